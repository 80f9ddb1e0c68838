// The store of models: names, manifests, blobs, and single .gguf files.

export { BlobStore, type StoredBlob } from "./blobs.ts";
export type { PruneResult } from "./collector.ts";
export type { StoredControlVector } from "./control_vectors.ts";
export { DigestError, StoreError } from "./errors.ts";
export { entriesOf, isFilePath, readIfThere, removeIfThere, writing } from "./file_system.ts";
export {
  blobsOf,
  canonicalDigest,
  encodeDocument,
  encodeGoJson,
  encodeManifest,
  type Layer,
  type Manifest,
  MEDIA,
  parseManifest,
  sortedByName,
} from "./manifest.ts";
export { configOf, formatCount } from "./import_files.ts";
export { remoteInfo } from "./model_blobs.ts";
export { isModelPath } from "./model_files.ts";
export { ModelName } from "./model_name.ts";
export { ModelStore } from "./store.ts";
export type {
  ModelConfig,
  ModelDefaults,
  ModelSource,
  RemoteDirectory,
  StoreEntry,
  StoreOptions,
} from "./types.ts";
