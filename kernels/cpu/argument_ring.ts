// The memory of the arguments of kept steps, which is written round and round: however many steps come
// and go, as sequences do, it stays as large as it is. The step that is written over is lost.

import { type CpuBuffer, type SharedMemory, takeBuffer } from "./memory.ts";

/** Arguments of a step in the ring. */
export interface RingPart {
  readonly address: number;
  /** Whether they are still there. */
  readonly isThere: () => boolean;
}

/** A ring of arguments. */
export class ArgumentRing {
  readonly #work: SharedMemory;
  readonly #bytes: number;
  #memory: CpuBuffer | undefined;
  /** Words from the beginning of the first round to the end of the last part. */
  #written = 0;

  /** Memory is taken with the first part. */
  constructor(work: SharedMemory, bytes: number) {
    this.#work = work;
    this.#bytes = bytes;
  }

  /** Writes the arguments of a step; undefined if they are more than all of the memory. */
  write(words: Uint32Array): RingPart | undefined {
    const size = this.#bytes / 4;
    if (words.length > size) return undefined;
    this.#memory ??= takeBuffer(this.#work, "arguments of kept steps", this.#bytes);
    const left = size - this.#written % size;
    const begin = this.#written + (words.length > left ? left : 0);
    this.#written = begin + words.length;
    this.#memory.words.set(words, begin % size);
    return {
      address: this.#memory.address + 4 * (begin % size),
      isThere: () => this.#written - begin <= size,
    };
  }
}
