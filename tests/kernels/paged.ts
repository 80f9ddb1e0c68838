// A paged KV cache for tests: sequences whose blocks lie in the cache in no order, and which
// element belongs to which token.

import { BLOCK, type Device, type HeadShape, type LayerCache } from "../../kernels/mod.ts";
import { layerCacheBytes } from "../../kernels/mod.ts";
import { readFloats, readWords, upload, write } from "../gpu.ts";

/** A cache with a table of blocks for slots 0, 1, .... */
export class PagedCache {
  readonly layer: LayerCache;
  readonly table: GPUBuffer;
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
    const bytes = layerCacheBytes(shape, prime, shape.half);
    const keys = device.buffer("keys", bytes, "test");
    const values = device.buffer("values", bytes, "test");
    this.layer = { keys, values, half: shape.half };
  }

  /** Where the elements of a head at a position begin. */
  at(slot: number, position: number, kvHead: number): number {
    const { kvHeads, headDim } = this.#shape;
    const block = this.#blocks.get(`${slot} ${Math.floor(position / BLOCK)}`)!;
    return ((block * kvHeads + kvHead) * BLOCK + position % BLOCK) * headDim;
  }

  /** All elements, zero unless written: to be filled for `write`, or as the GPU has them. */
  get elements(): number {
    return this.#count * this.#shape.kvHeads * BLOCK * this.#shape.headDim;
  }

  /** Writes all keys or all values, rounded to half precision where the cache is. */
  write(buffer: GPUBuffer, values: Float32Array): void {
    const words = this.layer.half ? new Uint32Array(Float16Array.from(values).buffer) : values;
    write(this.device, buffer, words);
  }

  /** Reads all keys or all values back. */
  async read(buffer: GPUBuffer): Promise<Float32Array> {
    if (!this.layer.half) return await readFloats(this.device, buffer, this.elements);
    const words = await readWords(this.device, buffer, this.elements / 2);
    return new Float32Array(new Float16Array(words.buffer as ArrayBuffer));
  }
}
