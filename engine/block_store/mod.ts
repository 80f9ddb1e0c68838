// Stores for what leaves the KV cache of a device: blocks of keys and values, and recurrent states,
// in the system's memory and on disk, under names that identify a model and the whole text up to
// there.

export { nameAfter, rootName } from "./block_name.ts";
export { measureBlocks } from "./block_folder.ts";
export { DigestFiles } from "./digest_files.ts";
export { DiskStore } from "./disk_store.ts";
export {
  type BlockViewer,
  MemoryStore,
  type RemoteShare,
  type SystemMemory,
} from "./memory_store.ts";
export {
  type FromStore,
  MirroredStore,
  MirrorHost,
  RemoteStore,
  type ToStore,
} from "./mirrored_store.ts";
export {
  type BlockMemory,
  type BlockStore,
  type BlockStoreOptions,
  bytesOf,
  type DiskOptions,
  type StoredBlock,
} from "./types.ts";
