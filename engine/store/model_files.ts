// Models in single .gguf files: in the folder of the models and its direct subfolders, or at a
// path. `stories260K.gguf` is `stories260K:latest`, `tiny/a.gguf` is `tiny/a:latest`. The files of
// a split model are one model, without their numbers. Characters that names cannot have become "-".

import { basename, type DirEntry, fileSystem, join, resolve } from "../../host/mod.ts";
import { parseShardName, shardPath } from "../gguf/mod.ts";
import { StoreError } from "./errors.ts";
import { entriesOf, isFile, isFilePath, stampOf, statIfThere } from "./file_system.ts";

/** Subfolders of the folder of models that have no single files. */
const OWN_FOLDERS = ["blobs", "manifests", "manifests-v2"];

/** A model in a file, or in the files of a split model. */
export interface ModelFile {
  readonly name: string;
  /** Absolute path. For a split model, that of its first shard. */
  readonly path: string;
  /** The file with its image encoder, if there is one in the same folder. */
  readonly projector?: string;
}

/** Whether a name has the form of a path of a .gguf file. */
export function isModelPath(name: string): boolean {
  return /[\\/]/.test(name) && /\.gguf$/i.test(name);
}

/** Whether a name has the form of a path of a folder, which no name of a model has. */
function isFolderPath(name: string): boolean {
  return /^(?:\.{0,2}|[a-z]:)[\\/]/i.test(name);
}

/** The models in a folder and its subfolders, in a fixed order. */
export async function listModelFiles(folder: string): Promise<ModelFile[]> {
  const entries = await entriesOf(folder);
  const models = firstShards(await ggufFiles(folder, entries)).map((file) => ({
    name: nameOf(file),
    path: resolve(folder, file),
  }));
  for (const { name, isDirectory } of entries) {
    if (!isDirectory || OWN_FOLDERS.includes(name)) continue;
    const inner = await modelsIn(join(folder, name));
    models.push(...inner.map((model) => ({ ...model, name: nameOf(`${name}/${model.name}`) })));
  }
  return models.sort((a, b) => a.path < b.path ? -1 : 1);
}

/**
 * The model at a path: a .gguf file, or a folder with a model in it.
 *
 * @returns undefined if it is not a path, or there is no such file or folder with a model
 * @throws {StoreError} if a folder has several models, or one of another format
 */
export async function modelAtPath(path: string): Promise<ModelFile | undefined> {
  if (!isModelPath(path) && !isFolderPath(path) || !isFilePath(path)) return undefined;
  const facts = await statIfThere(path);
  if (facts?.isFile) return isModelPath(path) ? { name: path, path: resolve(path) } : undefined;
  if (!facts?.isDirectory) return undefined;
  const models = await modelsIn(path);
  if (models.length > 1) {
    const names = models.map(({ name }) => name).join(", ");
    throw new StoreError(
      `Cannot tell which model of the folder "${path}" is meant: name one of its files: ${names}`,
    );
  }
  if (models[0]) return { ...models[0], name: path };
  if ((await entriesOf(path)).some(({ name }) => name.endsWith(".safetensors"))) {
    throw new StoreError(
      `Cannot run the folder "${path}": its weights are safetensors: ` +
        "make a model of it with `create`, from a Modelfile that says FROM and the folder",
    );
  }
  return undefined;
}

/** What a file system tells of a model's files. */
export interface ModelFacts {
  /** Bytes of all of them. */
  readonly size: number;
  /** Time of the last change. */
  readonly modified: Date;
  /** What changes whenever one of them does, or is replaced. */
  readonly stamp: string;
}

/** The facts of all files of a model. */
export async function statModel(
  { path, projector, adapters = [] }: Omit<ModelFile, "name"> & { adapters?: readonly string[] },
): Promise<ModelFacts> {
  const shard = parseShardName(path);
  const others = Array.from({ length: shard?.count ?? 0 }, (_, i) => shardPath(shard!, i + 1))
    .filter((other) => other !== path);
  if (projector) others.push(projector);
  others.push(...adapters);
  const stats = [await fileSystem().stat(path)];
  for (const facts of await Promise.all(others.map(statIfThere))) if (facts) stats.push(facts);
  return {
    size: stats.reduce((sum, { size }) => sum + size, 0),
    modified: new Date(Math.max(...stats.map(({ mtime }) => mtime?.getTime() ?? 0))),
    stamp: stats.map(stampOf).join(),
  };
}

/** The models of one folder by the names of their files, each with the folder's projector. */
async function modelsIn(folder: string): Promise<ModelFile[]> {
  const files = await ggufFiles(folder, await entriesOf(folder));
  const projectors = files.filter(isProjector);
  const projector = projectors.length === 1 ? resolve(folder, projectors[0]!) : undefined;
  return firstShards(files).map((file) => ({
    name: file,
    path: resolve(folder, file),
    ...(projector && { projector }),
  }));
}

/** The files that are models. Of a split model, the first shard. */
function firstShards(files: string[]): string[] {
  const all = new Set(files);
  return files.filter((file) => {
    const shard = parseShardName(file);
    // A shard whose first shard is missing stays, so that the error is reported.
    return !isProjector(file) && (!shard || shard.number === 1 || !all.has(shardPath(shard, 1)));
  }).sort();
}

/** The names of GGUF files among the entries of a folder. */
async function ggufFiles(folder: string, entries: DirEntry[]): Promise<string[]> {
  const names: string[] = [];
  for (const entry of entries) {
    if (/\.gguf$/i.test(entry.name) && await isFile(folder, entry)) names.push(entry.name);
  }
  return names;
}

function isProjector(file: string): boolean {
  return /^mmproj\b/i.test(basename(file));
}

function nameOf(file: string): string {
  const base = parseShardName(file)?.base ?? file.replace(/\.gguf$/i, "");
  return base.replace(/[^\w./-]/g, "-") + ":latest";
}
