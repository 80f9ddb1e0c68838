// Blocks of all models in the system's memory, up to a number of bytes; the least recently used are
// dropped first. The store outlives the models, so that a model finds its blocks when it is loaded
// again. The bytes are in shared memory, so that models in threads can use them
// (mirrored_store.ts).

import { type BlockMemory, type BlockStore, bytesOf, type StoredBlock } from "./types.ts";

/** Bytes after which the system's available memory is read again. */
const ASK_EVERY = 64 * 2 ** 20;

/** Fraction of the system's memory that is left free for other programs. */
const FREE_SHARE = 1 / 16;

interface Entry {
  readonly model: string;
  readonly block: StoredBlock;
}

/** The memory of a system, as an interface, so that tests can simulate others. */
export interface SystemMemory {
  /** Bytes that programs may still allocate. */
  readonly available: number;
  /** Bytes of all memory. */
  readonly total: number;
}

/** A model that mirrors the store. */
export interface BlockViewer {
  /** Called with the names of dropped blocks. */
  dropped(names: readonly string[]): void;
}

/** Blocks of several models. */
export class MemoryStore implements BlockStore {
  /** Entries by name, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #viewers = new Map<string, Set<BlockViewer>>();
  readonly #system: (() => SystemMemory) | undefined;
  #bytes = 0;
  #unasked = 0;

  /** Most bytes of all blocks. */
  readonly limit: number;

  /**
   * An empty store.
   *
   * @param limit most bytes
   * @param system reads the system's memory; default: it is not read
   */
  constructor(limit: number, system?: () => SystemMemory) {
    this.limit = limit;
    this.#system = system;
  }

  /** Bytes of all blocks. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of blocks. */
  get count(): number {
    return this.#entries.size;
  }

  open(model: string): BlockMemory {
    return {
      get: (name) => this.get(name),
      put: (name, block) => this.put(model, name, block),
      touch: (names) => this.touch(names),
      close: () => {},
    };
  }

  /** Calls a viewer when blocks of a model are dropped, until the result is disposed of. */
  watch(model: string, viewer: BlockViewer): Disposable {
    const viewers = this.#viewers.get(model) ?? new Set();
    this.#viewers.set(model, viewers.add(viewer));
    return { [Symbol.dispose]: () => void viewers.delete(viewer) };
  }

  /** The blocks of a model, by name. */
  blocksOf(model: string): (readonly [name: string, block: StoredBlock])[] {
    return [...this.#entries].filter(([, entry]) => entry.model === model)
      .map(([name, { block }]) => [name, block]);
  }

  /** The block of that name, if it is there. */
  get(name: string): StoredBlock | undefined {
    return this.#entries.get(name)?.block;
  }

  /** Stores a block of a model. */
  put(model: string, name: string, block: StoredBlock): void {
    const before = this.#entries.get(name);
    if (before) this.#remove(name, before);
    const size = bytesOf(block);
    this.#entries.set(name, { model, block });
    this.#bytes += size;
    this.#unasked += size;
    this.#dropOver(this.#room());
  }

  /** Marks blocks as used now, the last one most recently. */
  touch(names: readonly string[]): void {
    for (const name of names) {
      const entry = this.#entries.get(name);
      if (!entry) continue;
      this.#entries.delete(name);
      this.#entries.set(name, entry);
    }
  }

  /** Most bytes at this time: fewer if the system is short of memory. */
  #room(): number {
    if (!this.#system || this.#unasked < ASK_EVERY) return this.limit;
    this.#unasked = 0;
    const { available, total } = this.#system();
    return Math.min(this.limit, Math.max(0, this.#bytes + available - FREE_SHARE * total));
  }

  #dropOver(room: number): void {
    const dropped = new Map<string, string[]>();
    for (const [name, entry] of this.#entries) {
      if (this.#bytes <= room) break;
      this.#remove(name, entry);
      const { model } = entry;
      dropped.set(model, [...dropped.get(model) ?? [], name]);
    }
    for (const [model, names] of dropped) {
      for (const viewer of this.#viewers.get(model) ?? []) viewer.dropped(names);
    }
  }

  #remove(name: string, { block }: Entry): void {
    this.#entries.delete(name);
    this.#bytes -= bytesOf(block);
  }
}
