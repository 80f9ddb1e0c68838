// Reads the header of a GGUF file, metadata and tensor table, and checks it against the file's
// size. tensor_reader.ts reads tensor data, and split models are joined here. Versions 2 and 3,
// little-endian; docs/gguf.md of the ggml project defines the format.

import { basename, pathOf } from "../../host/mod.ts";
import { inSlices } from "../async.ts";
import { GgufError } from "../errors.ts";
import type { ByteSources } from "./byte_source.ts";
import type { GgufFile } from "./gguf_file.ts";
import { HeaderReader, MIN_STRING_BYTES, type Steps } from "./header_reader.ts";
import { localFiles } from "./local_files.ts";
import { MetadataReader, readMetadata } from "./metadata_reader.ts";
import { parseShardName, type ShardName, shardPath } from "./shard_name.ts";
import { placeTensors, readTensorTable, type TensorInfo } from "./tensor_types.ts";
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
  const layout = { dataOffset, alignment, fileSize: size };
  const tensors = yield* placeTensors(header, table, layout);
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

// Joins the files of a split model into one GgufFile, and checks that they belong together. The
// first shard has all metadata; each has split.no (from 0), split.count and split.tensors.count (of
// the whole model), as llama.cpp's gguf-split writes them. read_gguf.ts reads a single header.

/** Most missing files that an error lists. */
const MAX_NAMED = 8;

/**
 * The whole model whose first shard is this file. A file that is not split is returned as it is.
 * @param read reads the header of one file
 * @throws GgufError if the file is another shard, or a shard is missing or does not match
 */
async function joinShards(
  file: GgufFile,
  read: (path: string, files: ByteSources) => Promise<GgufFile>,
): Promise<GgufFile> {
  const count = new MetadataReader(file).optionalCount("split.count", 1);
  if (count <= 1) return file;
  const name = firstShardName(file, count);
  const shards = [file];
  for (const path of await otherShards(file, name)) {
    shards.push(await read(path, file.files));
  }
  for (const [index, shard] of shards.entries()) checkPlace(shard, index, count);
  const tensors = joinTensors(shards);
  for (const shard of shards) checkTensorCount(shard, tensors.size);
  return {
    ...file,
    shards: shards.map(({ path }) => path),
    tensors,
    fileSize: shards.reduce((sum, { fileSize }) => sum + fileSize, 0),
  };
}

/** The parsed name of the file, which has to be the first of `count` shards. */
function firstShardName(file: GgufFile, count: number): ShardName {
  const name = parseShardName(file.path);
  if (name?.count !== count) {
    const example = shardPath({ base: "NAME", count, extension: ".gguf" }, 1);
    const state =
      `${count}, but the file is not named as ${example} is, so the others are not found`;
    throw new GgufError(file.path, "split.count", state);
  }
  if (name.number === 1) return name;
  const state = `it is shard ${name.number} of ${count}: open the first, "${shardPath(name, 1)}"`;
  throw new GgufError(file.path, "split.no", state);
}

/** Paths of the shards after the first. Errors: GgufError if any is missing. */
async function otherShards(first: GgufFile, name: ShardName): Promise<string[]> {
  const paths = Array.from({ length: name.count - 1 }, (_, index) => shardPath(name, index + 2));
  const found = await Promise.all(paths.map((path) => first.files.has(path)));
  const missing = paths.filter((_, index) => !found[index]).map((path) => basename(path));
  if (missing.length === 0) return paths;
  const named = missing.slice(0, MAX_NAMED).join(", ") + (missing.length > MAX_NAMED ? ", …" : "");
  throw new GgufError(
    first.path,
    "split.count",
    `${missing.length} of its ${name.count} shards are not beside it; ` +
      `fetch from where this file came: ${named}`,
  );
}

function checkPlace(shard: GgufFile, index: number, count: number): void {
  const metadata = new MetadataReader(shard);
  for (const [key, expected] of [["split.no", index], ["split.count", count]] as const) {
    const value = metadata.count(key);
    if (value === expected) continue;
    throw new GgufError(
      shard.path,
      key,
      `${value}, but shard ${index + 1} of ${count} has ${expected}`,
    );
  }
}

function checkTensorCount(shard: GgufFile, tensors: number): void {
  const key = "split.tensors.count";
  const declared = new MetadataReader(shard).count(key);
  if (declared === tensors) return;
  throw new GgufError(shard.path, key, `${declared}, but the shards have ${tensors} together`);
}

function joinTensors(shards: readonly GgufFile[]): Map<string, TensorInfo> {
  const tensors = new Map<string, TensorInfo>();
  for (const [index, { path, tensors: own }] of shards.entries()) {
    for (const tensor of own.values()) {
      const other = tensors.get(tensor.name);
      if (other) {
        const state = `it is in "${basename(shards[other.shard].path)}" too`;
        throw new GgufError(path, `tensor "${tensor.name}"`, state);
      }
      tensors.set(tensor.name, { ...tensor, shard: index });
    }
  }
  return tensors;
}
