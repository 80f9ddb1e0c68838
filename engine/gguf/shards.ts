// Joins the files of a split model into one GgufFile, and checks that they belong together. The
// first shard has all metadata; each has split.no (from 0), split.count and split.tensors.count (of
// the whole model), as llama.cpp's gguf-split writes them. read_gguf.ts reads a single header.

import { basename } from "../../host/mod.ts";
import { GgufError } from "../errors.ts";
import type { ByteSources } from "./byte_source.ts";
import type { GgufFile } from "./gguf_file.ts";
import { MetadataReader } from "./metadata_reader.ts";
import { parseShardName, type ShardName, shardPath } from "./shard_name.ts";
import type { TensorInfo } from "./tensor_table.ts";

/** Most missing files that an error lists. */
const MAX_NAMED = 8;

/**
 * The whole model whose first shard is this file. A file that is not split is returned as it is.
 * @param read reads the header of one file
 * @throws GgufError if the file is another shard, or a shard is missing or does not match
 */
export async function joinShards(
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
