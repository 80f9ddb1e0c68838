// A paged KV cache for tests: sequences whose blocks lie in the cache in no order, and which
// element belongs to which token.

import {
  BLOCK,
  type Buffer,
  type Device,
  type HeadShape,
  type LayerCache,
  layerCacheBytes,
} from "../../kernels/mod.ts";
import { readFloats, readWords, upload, write } from "../gpu.ts";

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
    shape: HeadShape & { half: boolean; maxBlocks: number },
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
    const buffer = (part: Part) =>
      device.buffer(part, layerCacheBytes(shape, prime, shape.half, part), "test");
    this.layer = {
      keys: buffer("keys"),
      ...(shape.sharedValues ? {} : { values: buffer("values") }),
      half: shape.half,
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

  /** Writes all keys or all values, rounded to half precision where the cache is. */
  write(part: Part, values: Float32Array): void {
    const words = this.layer.half ? new Uint32Array(Float16Array.from(values).buffer) : values;
    write(this.device, this.layer[part]!, words);
  }

  /** Reads all keys or all values back. */
  async read(part: Part): Promise<Float32Array> {
    const { length } = this.zeros(part);
    const buffer = this.layer[part]!;
    if (!this.layer.half) return await readFloats(this.device, buffer, length);
    const words = await readWords(this.device, buffer, length / 2);
    return new Float32Array(new Float16Array(words.buffer as ArrayBuffer));
  }

  #columns(part: Part): number {
    const { headDim, valueDim = headDim } = this.#shape;
    return part === "keys" ? headDim : valueDim;
  }
}
