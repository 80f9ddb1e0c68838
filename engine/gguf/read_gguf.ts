// Reads the header of a GGUF file, metadata and tensor table, and checks it against the file's
// size. tensor_reader.ts reads tensor data, shards.ts joins split models. Versions 2 and 3,
// little-endian; docs/gguf.md of the ggml project defines the format.

import { pathOf } from "../../host/mod.ts";
import { GgufError } from "../errors.ts";
import { inSlices } from "../async.ts";
import type { ByteSources } from "./byte_source.ts";
import type { GgufFile } from "./gguf_file.ts";
import { HeaderReader, MIN_STRING_BYTES, type Steps } from "./header_reader.ts";
import { readMetadata } from "./metadata.ts";
import { MetadataReader } from "./metadata_reader.ts";
import { localFiles } from "./local_files.ts";
import { joinShards } from "./shards.ts";
import { placeTensors, readTensorTable } from "./tensor_table.ts";
import type { MetadataValue } from "./value_types.ts";

// Fewest bytes of a pair (key, id of the type, value of one byte) and of a tensor (name, rank,
// type, offset).
const MIN_PAIR_BYTES = MIN_STRING_BYTES + 4 + 1;
const MIN_TENSOR_BYTES = MIN_STRING_BYTES + 4 + 4 + 8;
const DEFAULT_ALIGNMENT = 32;
const MAX_ALIGNMENT = 2 ** 31;

/**
 * Reads the header of a GGUF file. For the first shard of a split model, reads those of all shards.
 *
 * @param files the source that opens the file and its shards
 * @throws GgufError naming the file and the field if a header is invalid, a shard is missing, or
 *   the
 *   file is not the first shard
 * @throws the errors of the system if the file cannot be opened
 */
export async function readGguf(
  path: string | URL,
  files: ByteSources = localFiles,
): Promise<GgufFile> {
  const file = await readHeader(path instanceof URL ? pathOf(path) : path, files);
  return joinShards(file, readHeader);
}

/** Reads the header of one file. */
async function readHeader(path: string, files: ByteSources): Promise<GgufFile> {
  using source = await files.open(path);
  const file = await inSlices(readSteps(new HeaderReader(source, path), path, source.size));
  return { ...file, files };
}

function* readSteps(
  header: HeaderReader,
  path: string,
  size: number,
): Steps<Omit<GgufFile, "files">> {
  const version = readVersion(header);
  header.field = "tensor count";
  const tensorCount = header.count(MIN_TENSOR_BYTES);
  header.field = "metadata count";
  const metadata = yield* readMetadata(header, header.count(MIN_PAIR_BYTES));
  const alignment = readAlignment(path, metadata);
  const table = yield* readTensorTable(header, tensorCount);
  const dataOffset = Math.ceil(header.position / alignment) * alignment;
  const place = { dataOffset, alignment, fileSize: size };
  const tensors = yield* placeTensors(header, table, place);
  const shards = [path];
  return { path, shards, version, metadata, tensors, dataOffset, fileSize: size, alignment };
}

function readVersion(header: HeaderReader): 2 | 3 {
  header.field = "magic";
  const magic = String.fromCharCode(...header.bytes(4));
  if (magic !== "GGUF") throw header.error(`${JSON.stringify(magic)} is not "GGUF"`);
  header.field = "version";
  const version = header.uint32();
  if (version === 2 || version === 3) return version;
  const isBigEndian = version !== 0 && (version & 0xffff) === 0;
  throw header.error(
    isBigEndian
      ? "big-endian files are not supported"
      : `${version} is not supported, only 2 and 3`,
  );
}

function readAlignment(path: string, metadata: Record<string, MetadataValue>): number {
  const key = "general.alignment";
  const alignment = new MetadataReader({ path, metadata }).optionalCount(key, DEFAULT_ALIGNMENT);
  const isPowerOfTwo = alignment > 0 && (alignment & (alignment - 1)) === 0;
  if (isPowerOfTwo && alignment <= MAX_ALIGNMENT) return alignment;
  throw new GgufError(path, key, `${alignment} is not a power of two of 32 bits`);
}
