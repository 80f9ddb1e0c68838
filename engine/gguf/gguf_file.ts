// What the headers of a GGUF file, or of the files of a split model, tell. The format: docs/gguf.md
// of the ggml project.

import { inSlices } from "../async.ts";
import { type ByteSources, fill } from "./byte_source.ts";
import { HeaderReader, type Steps } from "./header_reader.ts";
import { localFiles } from "./local_files.ts";
import { readMetadata } from "./metadata_reader.ts";
import type { TensorInfo } from "./tensor_types.ts";
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

// Reads the values of a GGUF header as bytes, to copy them to another file: read as numbers they
// would lose their types. metadata_reader.ts reads them as values.

/** A value in the form of a file: the id of its type, followed by the value. */
export interface RawValue {
  readonly raw: Uint8Array;
}

/** Magic, version, and the counts of tensors and of pairs. */
const PREFIX_BYTES = 4 + 4 + 8 + 8;
const LENGTH_BYTES = 8;

/**
 * Reads the metadata of one file, in its order.
 * @throws GgufError naming the file and the invalid key
 */
export async function readRawMetadata(path: string): Promise<Map<string, RawValue>> {
  using file = await localFiles.open(path);
  const header = new HeaderReader(file, path);
  const ends = await inSlices(readEnds(header));
  const pairs = new Uint8Array(header.position);
  if (fill(file, 0, pairs) < pairs.length) throw header.error("the file has become shorter");
  return new Map(valuesOf(pairs, ends));
}

/** The end of each key's pair. */
function* readEnds(header: HeaderReader): Steps<Map<string, number>> {
  header.bytes(PREFIX_BYTES - 8);
  const count = header.uint64();
  const ends = new Map<string, number>();
  for (let index = 0; index < count; index++) {
    const [key] = Object.keys(yield* readMetadata(header, 1));
    ends.set(key, header.position);
  }
  return ends;
}

/** Cuts the pairs apart. Each begins with the length of its key. */
function* valuesOf(
  bytes: Uint8Array<ArrayBuffer>,
  ends: ReadonlyMap<string, number>,
): Generator<[key: string, value: RawValue]> {
  const view = new DataView(bytes.buffer);
  let start = PREFIX_BYTES;
  for (const [key, end] of ends) {
    const keyLength = Number(view.getBigUint64(start, true));
    yield [key, { raw: bytes.subarray(start + LENGTH_BYTES + keyLength, end) }];
    start = end;
  }
}
