// GGUF files: reading their headers and tensors, and writing new ones. The meaning of the metadata
// is not known here. The format: docs/gguf.md of the ggml project.

export { readGguf } from "./read_gguf.ts";
export { type ByteSource, type ByteSources, filesInMemory, fill } from "./byte_source.ts";
export { type GgufFile, type RawValue, readRawMetadata } from "./gguf_file.ts";
export {
  fileTypeByName,
  fileTypeName,
  type TensorInfo,
  type TensorType,
  tensorTypeById,
  tensorTypeByName,
} from "./tensor_types.ts";
export { parseShardName, type ShardName, shardPath } from "./shard_name.ts";
export {
  noTensorBytes,
  type TensorBytes,
  type TensorChunk,
  TensorReader,
} from "./tensor_reader.ts";
export { MetadataReader } from "./metadata_reader.ts";
export type { MetadataValue, NumberArray, NumberTypeName } from "./value_types.ts";
export {
  type TypedNumber,
  type WritableMetadata,
  type WritableTensor,
  type WritableValue,
  writeGguf,
} from "./writer.ts";
export { localFiles } from "./local_files.ts";
