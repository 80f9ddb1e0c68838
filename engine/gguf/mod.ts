// GGUF files: reading their header and their tensors, and writing new ones.
// What the metadata means is not known here. The format: docs/gguf.md of the ggml project.

export { readGguf } from "./read_gguf.ts";
export type { GgufFile } from "./gguf_file.ts";
export type { TensorInfo } from "./tensor_table.ts";
export { parseShardName, shardPath } from "./shard_name.ts";
export type { ShardName } from "./shard_name.ts";
export { noTensorBytes, TensorReader } from "./tensor_reader.ts";
export type { TensorBytes, TensorChunk } from "./tensor_reader.ts";
export { MetadataReader } from "./metadata_reader.ts";
export { readRawMetadata } from "./raw_metadata.ts";
export type { RawValue } from "./raw_metadata.ts";
export type { MetadataValue, NumberArray, NumberTypeName } from "./value_types.ts";
export { fileTypeByName, fileTypeName, tensorTypeById, tensorTypeByName } from "./tensor_types.ts";
export type { TensorType } from "./tensor_types.ts";
export { writeGguf } from "./writer.ts";
export type { TypedNumber, WritableMetadata, WritableTensor, WritableValue } from "./writer.ts";
