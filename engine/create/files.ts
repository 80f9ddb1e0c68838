// A model from files that are blobs of the store: GGUF files, whose headers tell weights, projector
// and adapters apart, or the safetensors of a Hugging Face folder or a file of whisper.cpp, which are
// converted.

import { fileSystem, join } from "../../host/mod.ts";
import { GgufError, RequestError } from "../errors.ts";
import { type GgufFile, MetadataReader, parseShardName, readGguf } from "../gguf/mod.ts";
import { canonicalDigest, isFilePath, MEDIA } from "../store/mod.ts";
import type { ModelInfo } from "../types/mod.ts";
import { doFileWork } from "./file_work.ts";
import type { MadeLayer } from "./layers.ts";
import { paced } from "./types.ts";
import { withNamedFiles, withTemporaryFile } from "./staging.ts";
import { BIN_MAGIC } from "./whisper_bin/mod.ts";
import { type CreateContext, type StoredWeights, storeWeights } from "./weights.ts";

/** Names of files with the digests of their blobs. */
export type NamedFiles = Readonly<Record<string, string>>;

/** The layers of a model's files. */
export interface FileLayers {
  /** The layers; weights, if there are any, come first. */
  readonly layers: readonly MadeLayer[];
  /** Facts of the weights. */
  readonly info?: ModelInfo;
}

/** First bytes of a GGUF file. */
const MAGIC = "GGUF";

/**
 * Makes layers of the files of a model.
 *
 * @throws {RequestError} if they cannot be a model
 * @throws {UnsupportedModelError} if safetensors have an architecture that cannot be converted
 */
export async function layersOfFiles(
  context: CreateContext,
  files: NamedFiles,
): Promise<FileLayers> {
  await checkFiles(context, files);
  if (Object.keys(files).length === 0) throw new RequestError("no files provided to convert");
  if (Object.keys(files).some((name) => name.endsWith(".safetensors"))) {
    return await convert(context, files);
  }
  const bin = await binFile(context, files);
  if (bin) return await convertWhisper(context, bin);
  const projectors: MadeLayer[] = [];
  let weights: StoredWeights | undefined;
  for (const name of firstShards(await ggufNames(context, files))) {
    context.signal.throwIfAborted();
    context.report({ status: "parsing GGUF" });
    await withPath(context, files, name, async (path) => {
      const gguf = await readNamed(path, name);
      const isSplit = gguf.shards.length > 1;
      if (isProjector(gguf)) {
        if (isSplit) throw new RequestError(`"${name}": a projector has to be one file`);
        projectors.push(await layerOf(context, MEDIA.projector, files[name]!));
        return;
      }
      if (weights) throw new RequestError(`"${name}" is a second model: one has to be left out`);
      weights = await storeWeights(context, {
        path,
        ...(!isSplit && { layer: await layerOf(context, MEDIA.model, files[name]!) }),
      });
    });
  }
  const { layer, info } = weights ?? {};
  return { layers: [...(layer ? [layer] : []), ...projectors], ...(info && { info }) };
}

/**
 * Makes layers of LoRA adapters.
 *
 * @param architecture of the model; empty if it is not known
 * @throws {RequestError} if a file is not an adapter, or is for another architecture
 */
export async function layersOfAdapters(
  context: CreateContext,
  files: NamedFiles,
  architecture: string,
): Promise<MadeLayer[]> {
  await checkFiles(context, files);
  const layers: MadeLayer[] = [];
  if (Object.keys(files).length === 0) return layers;
  for (const name of await ggufNames(context, files)) {
    const digest = files[name]!;
    const metadata = new MetadataReader(await readNamed(context.store.blobs.pathOf(digest), name));
    const type = metadata.optionalString("adapter.type", "");
    if (metadata.optionalString("general.type", "model") !== "adapter" || type !== "lora") {
      throw new RequestError(`"${name}" is not a LoRA adapter`);
    }
    const made = metadata.optionalString("general.architecture", architecture);
    if (architecture !== "" && made !== architecture) {
      throw new RequestError(
        `adapter "${name}" is for models of architecture "${made}", not "${architecture}"`,
      );
    }
    layers.push(await layerOf(context, MEDIA.adapter, digest));
  }
  return layers;
}

/**
 * Makes a layer of the file of a draft model.
 *
 * @throws {RequestError} if there are several, or it is no model in GGUF
 */
export async function layerOfDraft(context: CreateContext, files: NamedFiles): Promise<MadeLayer> {
  await checkFiles(context, files);
  const [name, ...others] = await ggufNames(context, files);
  if (others.length > 0) throw new RequestError("a draft model has to be one file");
  const digest = files[name]!;
  if (isProjector(await readNamed(context.store.blobs.pathOf(digest), name))) {
    throw new RequestError(`"${name}" is a projector, not a draft model`);
  }
  return await layerOf(context, MEDIA.draft, digest);
}

async function convert(context: CreateContext, files: NamedFiles): Promise<FileLayers> {
  const { store: { blobs }, report, signal } = context;
  report({ status: "converting model" });
  const { layer, info } = await withNamedFiles(
    blobs,
    files,
    (folder) =>
      withTemporaryFile(blobs, async (to) => {
        const onProgress = paced(report, { status: "converting model" });
        await doFileWork({ kind: "convert", folder, to }, { onProgress, signal });
        return await storeWeights(context, { path: to, isTemporary: true });
      }),
  );
  return { layers: [layer], info };
}

/** The path of a file of whisper.cpp, if the model is one alone. */
async function binFile(
  { store: { blobs } }: CreateContext,
  files: NamedFiles,
): Promise<string | undefined> {
  const [path, ...others] = Object.values(files).map((digest) => blobs.pathOf(digest));
  return others.length === 0 && await beginningOf(path) === BIN_MAGIC ? path : undefined;
}

async function convertWhisper(context: CreateContext, from: string): Promise<FileLayers> {
  const { store: { blobs }, report, signal } = context;
  report({ status: "converting model" });
  const { layer, info } = await withTemporaryFile(blobs, async (to) => {
    const onProgress = paced(report, { status: "converting model" });
    await doFileWork({ kind: "convert bin", from, to }, { onProgress, signal });
    return await storeWeights(context, { path: to, isTemporary: true });
  });
  return { layers: [layer], info };
}

/**
 * Checks names and blobs. @throws {RequestError} for names outside of the folder, and blobs that do
 * not exist
 */
export async function checkFiles(
  { store: { blobs } }: CreateContext,
  files: NamedFiles,
): Promise<void> {
  for (const [name, digest] of Object.entries(files)) {
    if (!isRelative(name)) throw new RequestError(`file path must be relative: ${name}`);
    if (!isFilePath(name)) throw new RequestError(`file path that no file can have: ${name}`);
    if (!canonicalDigest(digest)) throw new RequestError(`invalid digest format: "${digest}"`);
    if (await blobs.sizeOf(digest) === undefined) {
      throw new RequestError(`blob not found for "${name}" (digest ${digest}): upload it first`);
    }
  }
}

/** Whether a path stays in its folder, on every system. */
function isRelative(name: string): boolean {
  return !/[\\:]/.test(name) && name.split("/").every((step) => !["", ".", ".."].includes(step));
}

/**
 * The names of the GGUF files; other files of a model's folder are ignored.
 *
 * @throws {RequestError} if a .gguf file is not GGUF, or there is none
 */
async function ggufNames(
  { store: { blobs } }: CreateContext,
  files: NamedFiles,
): Promise<string[]> {
  const names: string[] = [];
  for (const [name, digest] of Object.entries(files)) {
    if (await beginningOf(blobs.pathOf(digest)) === MAGIC) names.push(name);
    else if (name.endsWith(".gguf")) throw new RequestError("supplied file was not in GGUF format");
  }
  if (names.length > 0) return names;
  throw new RequestError(
    `unknown type: ${Object.keys(files).join(", ")}: neither GGUF nor safetensors`,
  );
}

/** The first bytes of a file, as a text. */
async function beginningOf(path: string): Promise<string> {
  using file = await fileSystem().open(path);
  const bytes = new Uint8Array(MAGIC.length);
  await file.read(bytes);
  return new TextDecoder().decode(bytes);
}

/** The names without shards whose first shard is among them. */
function firstShards(names: readonly string[]): string[] {
  const shards = names.map((name) => ({ name, shard: parseShardName(name) }));
  const begun = new Set(shards.flatMap(({ shard }) => shard?.number === 1 ? [shard.base] : []));
  return shards.filter(({ shard }) => !shard || shard.number === 1 || !begun.has(shard.base))
    .map(({ name }) => name).sort();
}

/** Runs work on the path of a file. The other shards of a split model are in the same folder. */
async function withPath<T>(
  { store: { blobs } }: CreateContext,
  files: NamedFiles,
  name: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (!parseShardName(name)) return await work(blobs.pathOf(files[name]!));
  return await withNamedFiles(blobs, files, (folder) => work(join(folder, name)));
}

/** Reads a header. Its errors contain the name of the file in the request. */
async function readNamed(path: string, name: string): Promise<GgufFile> {
  try {
    return await readGguf(path);
  } catch (error) {
    if (!(error instanceof GgufError)) throw error;
    throw new RequestError(error.message.replaceAll(path, name), { cause: error });
  }
}

/** Whether a file is a projector. @throws {RequestError} if it is an adapter */
function isProjector(gguf: GgufFile): boolean {
  const metadata = new MetadataReader(gguf);
  const architecture = metadata.optionalString("general.architecture", "");
  const type = metadata.optionalString("general.type", "model");
  if (type === "adapter") throw new RequestError("an adapter has to be among the adapters");
  const isEncoder = metadata.has(`${architecture}.vision.block_count`) &&
    !metadata.has(`${architecture}.block_count`);
  return type === "mmproj" || type === "projector" || architecture === "clip" || isEncoder;
}

/** A layer of the blob with this digest. */
export async function layerOf(
  { store: { blobs } }: CreateContext,
  mediaType: string,
  text: string,
): Promise<MadeLayer> {
  const digest = canonicalDigest(text)!;
  return { mediaType, digest, size: (await blobs.sizeOf(digest))!, existed: true };
}
