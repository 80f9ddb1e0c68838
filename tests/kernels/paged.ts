// A paged KV cache for tests: sequences whose blocks lie in the cache in no order, and which
// element belongs to which token.

import {
  BLOCK,
  type Buffer,
  type CacheType,
  type CacheTypes,
  decodeCache,
  type Device,
  encodeCache,
  type HeadShape,
  type LayerCache,
  layerCacheBytes,
  typesOf,
} from "../../kernels/mod.ts";
import { readWords, upload, write } from "../gpu.ts";

type Part = "keys" | "values";

/** A cache with a table of blocks for slots 0, 1, .... */
export class PagedCache {
  readonly layer: LayerCache;
  readonly table: Buffer;
  readonly #shape: HeadShape;
  /** Block number of each block of positions of each slot, for those given a block. */
  readonly #blocks = new Map<string, number>();
  readonly #count: number;

  /** @param positions those that each slot can hold, slot after slot */
  constructor(
    readonly device: Device,
    shape: HeadShape & { half: boolean; type?: CacheType; types?: CacheTypes; maxBlocks: number },
    positions: readonly (readonly number[])[],
  ) {
    this.#shape = shape;
    positions.forEach((list, slot) => {
      for (const position of list) {
        const key = `${slot} ${Math.floor(position / BLOCK)}`;
        this.#blocks.set(key, this.#blocks.get(key) ?? this.#blocks.size);
      }
    });
    this.#count = this.#blocks.size + 2; // some belong to nobody
    // Block i goes to (7 i + 3) mod p: for a prime p a permutation.
    let prime = Math.max(11, this.#count);
    while ([2, 3, 5, 7, 11, 13].some((divisor) => prime > divisor && prime % divisor === 0)) {
      prime++;
    }
    this.#count = prime;
    const table = new Uint32Array(positions.length * shape.maxBlocks).fill(prime - 1);
    for (const [key, block] of this.#blocks) {
      const [slot, index] = key.split(" ").map(Number);
      this.#blocks.set(key, (7 * block + 3) % prime);
      table[slot * shape.maxBlocks + index] = (7 * block + 3) % prime;
    }
    this.table = upload(device, table);
    const types = shape.types ?? typesOf(shape.type ?? (shape.half ? "f16" : "f32"));
    const buffer = (part: Part) =>
      device.buffer(part, layerCacheBytes(shape, prime, types, part), "test");
    this.layer = {
      keys: buffer("keys"),
      ...(shape.sharedValues ? {} : { values: buffer("values") }),
      types,
    };
  }

  /** Where the elements of a head at a position begin. */
  at(part: Part, slot: number, position: number, kvHead: number): number {
    const block = this.#blocks.get(`${slot} ${Math.floor(position / BLOCK)}`)!;
    const { kvHeads } = this.#shape;
    return ((block * kvHeads + kvHead) * BLOCK + position % BLOCK) * this.#columns(part);
  }

  /** Elements of all keys or all values, zero: to be filled for `write`, or compared with `read`. */
  zeros(part: Part): Float32Array {
    return new Float32Array(this.#count * this.#shape.kvHeads * BLOCK * this.#columns(part));
  }

  /** Writes all keys or all values, rounded as the cache is. */
  write(part: Part, values: Float32Array): void {
    const bytes = encodeCache(this.layer.types[part], this.#columns(part), values);
    write(this.device, this.layer[part]!, new Uint32Array(bytes.buffer));
  }

  /** Reads all keys or all values back. */
  async read(part: Part): Promise<Float32Array> {
    const buffer = this.layer[part]!;
    const type = this.layer.types[part];
    const size = layerCacheBytes(this.#shape, this.#count, this.layer.types, part);
    const words = await readWords(this.device, buffer, size / 4);
    return decodeCache(type, this.#columns(part), new Uint8Array(words.buffer));
  }

  #columns(part: Part): number {
    const { headDim, valueDim = headDim } = this.#shape;
    return part === "keys" ? headDim : valueDim;
  }
}
