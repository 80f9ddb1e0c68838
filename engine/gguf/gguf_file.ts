// What the headers of a GGUF file, or of the files of a split model, tell. The format: docs/gguf.md
// of the ggml project.

import type { ByteSources } from "./byte_source.ts";
import type { TensorInfo } from "./tensor_table.ts";
import type { MetadataValue } from "./value_types.ts";

/** The header of a GGUF file, or of the files of a split model. Offsets and sizes in bytes. */
export interface GgufFile {
  /** Path as it was opened. For a split model, that of the first shard. */
  readonly path: string;
  /** Paths of all files, in order: itself, or the shards of a split model. */
  readonly shards: readonly string[];
  /** The source that opens the files. */
  readonly files: ByteSources;
  /** Version of the format. */
  readonly version: 2 | 3;
  /** Keys and values in the order of the file, in an object without a prototype. */
  readonly metadata: Record<string, MetadataValue>;
  /** Tensors in the order of the file. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** For tensors that have another name in `tensors` than in the file, the latter, for errors. */
  readonly namesInFile?: ReadonlyMap<string, string>;
  /** Offset of the tensor data in the first file. */
  readonly dataOffset: number;
  /** Bytes of all files together. */
  readonly fileSize: number;
  /** Alignment: a divisor of every tensor's offset. */
  readonly alignment: number;
}
