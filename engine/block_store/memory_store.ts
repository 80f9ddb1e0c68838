// Blocks of all models in the system's memory, up to a number of bytes; the least recently used are
// dropped first. The store outlives the models, so that a model finds its blocks when it is loaded
// again. The bytes are in shared memory, so that models in threads can use them
// (mirrored_store.ts). A model in a process of its own keeps the bytes of its blocks there; the store
// counts them, and decides which are dropped.

import { type BlockMemory, type BlockStore, bytesOf, type StoredBlock } from "./types.ts";

/** Bytes after which the system's available memory is read again. */
const ASK_EVERY = 64 * 2 ** 20;

/** Fraction of the system's memory that is left free for other programs. */
const FREE_SHARE = 1 / 16;

/** A block in this process. */
interface OwnEntry {
  readonly model: string;
  readonly block: StoredBlock;
}

/** A block in the memory of another process. */
interface RemoteEntry {
  readonly holder: BlockViewer;
  /** Its name there. */
  readonly name: string;
  readonly bytes: number;
}

type Entry = OwnEntry | RemoteEntry;

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

/**
 * The part of a store's limit that the blocks of one process take. To be disposed of when their
 * memory is freed.
 */
export interface RemoteShare extends Disposable {
  /** Counts a block. Blocks that are dropped for it are told to their viewers. */
  put(name: string, bytes: number): void;
  /** Marks blocks as used now, the last one most recently. */
  touch(names: readonly string[]): void;
}

/** Blocks of several models. */
export class MemoryStore implements BlockStore {
  /** Entries by name, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #viewers = new Map<string, Set<BlockViewer>>();
  readonly #system: (() => SystemMemory) | undefined;
  #shares = 0;
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

  /** Bytes of all blocks, those of other processes included. */
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

  /** Counts the blocks that another process keeps. @param holder called when it has to drop some */
  share(holder: BlockViewer): RemoteShare {
    const prefix = `${++this.#shares} `;
    return {
      put: (name, bytes) => this.#add(prefix + name, { holder, name, bytes }),
      touch: (names) => this.touch(names.map((name) => prefix + name)),
      [Symbol.dispose]: () => {
        for (const [name, entry] of this.#entries) {
          if ("holder" in entry && entry.holder === holder) this.#remove(name, entry);
        }
      },
    };
  }

  /** The blocks of a model that are in this process, by name. */
  blocksOf(model: string): (readonly [name: string, block: StoredBlock])[] {
    return [...this.#entries].flatMap(([name, entry]) =>
      "block" in entry && entry.model === model ? [[name, entry.block] as const] : []
    );
  }

  /** The block of that name, if it is in this process. */
  get(name: string): StoredBlock | undefined {
    const entry = this.#entries.get(name);
    return entry && "block" in entry ? entry.block : undefined;
  }

  /** Stores a block of a model. */
  put(model: string, name: string, block: StoredBlock): void {
    this.#add(name, { model, block });
  }

  #add(name: string, entry: Entry): void {
    const before = this.#entries.get(name);
    if (before) this.#remove(name, before);
    const size = sizeOf(entry);
    this.#entries.set(name, entry);
    this.#bytes += size;
    this.#unasked += size;
    this.#dropOver(this.#limitNow());
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

  /** Drops blocks. */
  drop(names: readonly string[]): void {
    const dropped = new Map<BlockViewer, string[]>();
    for (const name of names) {
      const entry = this.#entries.get(name);
      if (!entry) continue;
      this.#remove(name, entry);
      const isRemote = "holder" in entry;
      const viewers = isRemote ? [entry.holder] : this.#viewers.get(entry.model) ?? [];
      for (const viewer of viewers) {
        const gone = dropped.get(viewer) ?? [];
        gone.push(isRemote ? entry.name : name);
        dropped.set(viewer, gone);
      }
    }
    for (const [viewer, gone] of dropped) viewer.dropped(gone);
  }

  /** Most bytes at this time: fewer if the system is short of memory. */
  #limitNow(): number {
    if (!this.#system || this.#unasked < ASK_EVERY) return this.limit;
    this.#unasked = 0;
    const { available, total } = this.#system();
    return Math.min(this.limit, Math.max(0, this.#bytes + available - FREE_SHARE * total));
  }

  #dropOver(limit: number): void {
    const names: string[] = [];
    let left = this.#bytes;
    for (const [name, entry] of this.#entries) {
      if (left <= limit) break;
      left -= sizeOf(entry);
      names.push(name);
    }
    this.drop(names);
  }

  #remove(name: string, entry: Entry): void {
    this.#entries.delete(name);
    this.#bytes -= sizeOf(entry);
  }
}

function sizeOf(entry: Entry): number {
  return "holder" in entry ? entry.bytes : bytesOf(entry.block);
}
