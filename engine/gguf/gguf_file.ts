// What is known of a GGUF file, or of the files of a split model, once their headers are read.
// The format: docs/gguf.md of the ggml project.

import type { ByteSources } from "./byte_source.ts";
import type { TensorInfo } from "./tensor_table.ts";
import type { MetadataValue } from "./value_types.ts";

/** The header of a GGUF file, or of the files of a split model. Offsets and sizes in bytes. */
export interface GgufFile {
  /** As it was opened; of a split model, the first shard. */
  readonly path: string;
  /** All its files in order: itself, or the shards of a split model. */
  readonly shards: readonly string[];
  /** Where they are opened. */
  readonly files: ByteSources;
  /** Of the format. */
  readonly version: 2 | 3;
  /** In the order of the file, without a prototype. */
  readonly metadata: Record<string, MetadataValue>;
  /** In the order of the file. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** Names in the file of tensors that have another one in `tensors`: errors name those. */
  readonly namesInFile?: ReadonlyMap<string, string>;
  /** Where the tensor data starts, in the first file. */
  readonly dataOffset: number;
  /** Of all files together. */
  readonly fileSize: number;
  /** Of which every tensor's offset in the first file is a multiple. */
  readonly alignment: number;
}
