// The memories of a CPU device: one WebAssembly memory for all that steps work on, divided by an
// allocator, and others for weights, keys and values, since a memory ends at 4 GiB. All are shared
// between threads.

import { GpuMemoryError } from "../errors.ts";
import type { Buffer } from "../operation.ts";
import { advisePages, type PageSize, sharedBuffer } from "../../host/mod.ts";

/** Pages of a memory that has 4 GiB, and bytes of a page. */
const MOST_PAGES = 65536;
const PAGE = 65536;

/**
 * Pages by which a memory grows at least, 64 MiB. They take no memory before they are used, but each
 * time that a shared memory grows, all threads have to take note.
 */
const GROWTH = 1024;

/** Bytes in use from which a memory may get pages of 2 MiB: a smaller one would waste most of a page. */
const LARGE = 2 ** 22;

/** Pieces begin on whole cache lines. */
const LINE = 64;

/** Bytes of a memory that can be allocated. The last page stays unused. */
export const MOST_BYTES = (MOST_PAGES - 1) * PAGE - LINE;

/** A piece of a memory, seen as bytes, words and floats. */
export interface CpuBuffer extends Buffer {
  /** The memory that it is a piece of. */
  readonly home: SharedMemory;
  readonly address: number;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  readonly words: Uint32Array<SharedArrayBuffer>;
  readonly floats: Float32Array<SharedArrayBuffer>;
}

/** A WebAssembly memory with an allocator. */
export class SharedMemory {
  readonly memory = new WebAssembly.Memory({ initial: 1, maximum: MOST_PAGES, shared: true });
  static #count = 0;
  /** Number that identifies the memory in this process. */
  readonly number = SharedMemory.#count++;
  /** Free pieces by their address, none next to another. */
  readonly #free = new Map<number, number>();
  /** Allocated bytes, or those that a dry device would have allocated. */
  taken = 0;
  /** Address 0 is never allocated, because kernels take it for "none". */
  #end = LINE;
  #isAdvised = false;

  /** @param pages the size of its pages, where the system lets it be chosen */
  constructor(readonly pages: PageSize = "huge") {}

  /** Zeroed memory, or undefined if none is left. @param bytes a multiple of 64 */
  take(bytes: number): number | undefined {
    for (const [address, size] of this.#free) {
      if (size < bytes) continue;
      this.#free.delete(address);
      if (size > bytes) this.#free.set(address + bytes, size - bytes);
      new Uint8Array(this.memory.buffer, address, bytes).fill(0);
      this.taken += bytes;
      return address;
    }
    const address = this.#end;
    // Kernels read whole vectors, the last of which may reach past the end of the data.
    const pages = Math.ceil((address + bytes + LINE) / PAGE);
    const missing = pages - this.memory.buffer.byteLength / PAGE;
    // The last page stays unused: lengths and ends of pieces fit 32 bits.
    if (pages >= MOST_PAGES || (missing > 0 && !this.#grow(missing))) return undefined;
    if (address + bytes >= LARGE && !this.#isAdvised) {
      this.#isAdvised = true;
      advisePages(this.memory, MOST_PAGES * PAGE, this.pages);
    }
    this.#end += bytes;
    this.taken += bytes;
    return address;
  }

  /** Whether this number of bytes is free, below the greatest size of a memory. */
  canTake(bytes: number): boolean {
    return this.#end + bytes <= MOST_BYTES ||
      [...this.#free.values()].some((size) => size >= bytes);
  }

  /** Frees a piece. */
  give(address: number, bytes: number): void {
    this.taken -= bytes;
    let [start, size] = [address, bytes];
    for (const [other, length] of this.#free) {
      if (other + length === start) start = other;
      else if (start + size !== other) continue;
      this.#free.delete(other);
      size += length;
    }
    this.#free.set(start, size);
  }

  /** Grows by a number of pages, or more. */
  #grow(pages: number): boolean {
    const left = MOST_PAGES - this.memory.buffer.byteLength / PAGE;
    for (const count of [Math.min(left, Math.max(pages, GROWTH)), pages]) {
      try {
        this.memory.grow(count);
        return true;
      } catch {
        // The system may have fewer.
      }
    }
    return false;
  }
}

/** The memories of weights, as many as needed. */
export class WeightMemories {
  readonly #memories: SharedMemory[] = [];

  /** A memory by its number. */
  at(number: number): SharedMemory {
    return this.#memories[number]!;
  }

  /** Takes bytes of one that has them. Errors: GpuMemoryError. @param bytes a multiple of 64 */
  take(bytes: number): { memory: number; address: number } {
    for (const [memory, weights] of this.#memories.entries()) {
      const address = weights.take(bytes);
      if (address !== undefined) return { memory, address };
    }
    const fresh = new SharedMemory();
    const address = fresh.take(bytes);
    if (address !== undefined) return { memory: this.#memories.push(fresh) - 1, address };
    throw new GpuMemoryError("weights", bytes, "there is no memory left for them");
  }
}

/** `bytes` rounded up to whole cache lines. */
export function wholeLines(bytes: number): number {
  return Math.max(LINE, Math.ceil(bytes / LINE) * LINE);
}

/** The size of a buffer for a number of bytes, by the rule of the device interface. */
export function bufferSize(bytes: number): number {
  return Math.max(16, Math.ceil(bytes / 16) * 16);
}

/** Memory of a step, as a buffer. Errors: GpuMemoryError. */
export function takeBuffer(memory: SharedMemory, label: string, bytes: number): CpuBuffer {
  const size = bufferSize(bytes);
  const address = memory.take(wholeLines(size));
  if (address === undefined) {
    throw new GpuMemoryError(label, size, "the memory of a device on the CPU ends at 4 GiB");
  }
  const { buffer } = memory.memory as WebAssembly.Memory & { buffer: SharedArrayBuffer };
  return {
    label,
    size,
    home: memory,
    address,
    bytes: new Uint8Array(buffer, address, size),
    words: new Uint32Array(buffer, address, size / 4),
    floats: new Float32Array(buffer, address, size / 4),
  };
}

/**
 * The memories of keys and values, as many as needed. Their pages are ordinary ones: a sequence begins a
 * new one in all layers at about the same position, and a step that has to wait for sixty of 2 MiB, which
 * the system fills with zeros first, takes a tenth of a second longer.
 */
export class CacheMemories {
  readonly #memories: SharedMemory[] = [];
  #dry: SharedMemory | undefined;

  /** The total of buffers without memory, which are only counted. */
  get dry(): SharedMemory {
    return this.#dry ??= new SharedMemory();
  }

  /** Memory for the keys or the values of a layer. Errors: GpuMemoryError. */
  take(label: string, bytes: number): CpuBuffer {
    const found = this.#memories.find((memory) => memory.canTake(wholeLines(bytes)));
    if (found) return takeBuffer(found, label, bytes);
    const fresh = new SharedMemory("ordinary");
    const buffer = takeBuffer(fresh, label, bytes);
    this.#memories.push(fresh);
    return buffer;
  }
}

/** Frees a buffer. */
export function giveBuffer(memory: SharedMemory, { address, size }: CpuBuffer): void {
  memory.give(address, wholeLines(size));
}

/** The first bytes of a buffer. @param size a multiple of 16, at most that of the buffer */
export function partOf(buffer: CpuBuffer, size: number): CpuBuffer {
  const { bytes, words, floats } = buffer;
  return {
    ...buffer,
    size,
    bytes: bytes.subarray(0, size),
    words: words.subarray(0, size / 4),
    floats: floats.subarray(0, size / 4),
  };
}

/** A buffer that has a size but no memory, for counting. */
export function dryBuffer(home: SharedMemory, label: string, size: number): CpuBuffer {
  const none = sharedBuffer(0);
  home.taken += wholeLines(size);
  return {
    label,
    size,
    home,
    address: 0,
    bytes: new Uint8Array(none),
    words: new Uint32Array(none),
    floats: new Float32Array(none),
  };
}

/** Frees the count of {@linkcode dryBuffer}. */
export function giveDryBuffer({ home, size }: CpuBuffer): void {
  home.taken -= wholeLines(size);
}

/** A buffer of a CPU device, from its type in the interface. */
export function cpu(buffer: Buffer): CpuBuffer {
  return buffer as CpuBuffer;
}
