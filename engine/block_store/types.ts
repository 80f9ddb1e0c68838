// What is kept of a model's KV cache outside of its device, and who keeps it. Plain data and
// interfaces alone.

/** A block of the KV cache outside of the device, under the name that block_name.ts gives it. */
export interface StoredBlock {
  /** Keys and values of the block in all layers, as the device has them. */
  readonly cached: Uint8Array<ArrayBufferLike>;
  /** The recurrent states after its last token, where they were copied there. */
  readonly states?: Uint8Array<ArrayBufferLike>;
}

/** Blocks in the system's memory, as one model sees them. */
export interface BlockMemory {
  /** The block of that name, if it is there. */
  get(name: string): StoredBlock | undefined;
  /** Keeps a block, in place of those that were used longest ago. */
  put(name: string, block: StoredBlock): void;
  /** Counts blocks as used now, the last one most recently. */
  touch(names: readonly string[]): void;
  /** Says that the model is closed. */
  close(): void;
}

/** What keeps blocks of several models in memory, and tells each of them what it has. */
export interface BlockStore {
  /** The blocks of a model. @param model identity, on which the names of its blocks stand */
  open(model: string): BlockMemory;
}

/** Where blocks lie on disk. */
export interface DiskOptions {
  /** Its path; it is made where it is not there. */
  folder: string;
  /** Most bytes of all files in it, those of other models included. */
  bytes: number;
}

/** How a model keeps blocks that leave its device's cache. */
export interface BlockStoreOptions {
  /** Keeps them in memory; one may serve several models. */
  memory?: BlockStore;
  /** Keeps them on disk as well. */
  disk?: DiskOptions;
  /** Hears what went wrong there; no request fails for it. */
  warn?: (message: string) => void;
}

/** Bytes of a block. */
export function bytesOf({ cached, states }: StoredBlock): number {
  return cached.length + (states?.length ?? 0);
}
