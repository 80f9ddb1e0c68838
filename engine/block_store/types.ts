// The parts of a model's KV cache that are kept outside of its device, and the interfaces of their
// stores. Plain data and interfaces only.

/** A block of the KV cache outside of the device, named as block_name.ts says. */
export interface StoredBlock {
  /** Keys and values of the block in all layers, in the layout of the device. */
  readonly cached: Uint8Array<ArrayBufferLike>;
  /** The recurrent states after its last token, if they were copied there. */
  readonly states?: Uint8Array<ArrayBufferLike>;
}

/** One model's view of the blocks in the system's memory. */
export interface BlockMemory {
  /** The block of that name, if it is there. */
  get(name: string): StoredBlock | undefined;
  /** Stores a block. The least recently used ones are evicted for it. */
  put(name: string, block: StoredBlock): void;
  /** Marks blocks as used now, the last one most recently. */
  touch(names: readonly string[]): void;
  /** Tells the store that the model is closed. */
  close(): void;
}

/** A store of blocks of several models in memory, with a view for each of them. */
export interface BlockStore {
  /** The view for a model. @param model identity, from which the names of its blocks begin */
  open(model: string): BlockMemory;
}

/** The folder of blocks on disk. */
export interface DiskOptions {
  /** Path of the folder, which is created if it is missing. */
  folder: string;
  /** Most bytes of all files in it, including those of other models. */
  bytes: number;
  /** Milliseconds after a failure until something is written again. Default 30 seconds. */
  retryAfter?: number;
}

/** The stores in which a model keeps blocks that leave its device's cache. */
export interface BlockStoreOptions {
  /** The store in memory, which may serve several models. */
  memory?: BlockStore;
  /** The store on disk, in addition. */
  disk?: DiskOptions;
  /**
   * Path of the folder in which digests of models' files are kept. Default: they are computed after
   * each load.
   */
  digests?: string;
  /** Receives warnings about the stores. Requests do not fail because of them. */
  warn?: (message: string) => void;
}

/** Bytes of a block. */
export function bytesOf({ cached, states }: StoredBlock): number {
  return cached.length + (states?.length ?? 0);
}
