// A model according to the blobs of its manifest: files, defaults and facts. The meaning of each
// layer is Ollama's (server/images.go). Of several layers of a kind that should occur once, the
// last one counts.

import type { ModelInfo } from "../types/mod.ts";
import type { BlobStore } from "./blobs.ts";
import { StoreError } from "./errors.ts";
import { type Layer, type Manifest, MEDIA } from "./manifest.ts";
import type { ModelConfig, ModelDefaults, ModelSource } from "./types.ts";

/** The contents of a manifest's small blobs. */
export interface ModelBlobs {
  readonly manifest: Manifest;
  readonly config: ModelConfig;
  readonly source: ModelSource;
  readonly defaults: ModelDefaults;
  /** Bytes of all that was read. */
  readonly bytes: number;
}

/** Most bytes of all small blobs of a model together. */
const MAX_BYTES = 64 * 2 ** 20;

/** Reads the bytes of a layer. */
type ReadLayer = (layer: Layer) => Promise<Uint8Array>;

/**
 * Reads the blobs of a manifest, except the weights.
 *
 * @throws {StoreError} if a blob is missing or invalid, there are no weights, or the blobs are larger
 *   than 64 MiB together
 */
export async function readModelBlobs(blobs: BlobStore, manifest: Manifest): Promise<ModelBlobs> {
  let bytes = 0;
  const read: ReadLayer = async ({ digest }) => {
    bytes += await blobs.sizeOf(digest) ?? 0;
    if (bytes > MAX_BYTES) {
      throw new StoreError(
        `Cannot read the model: its texts have more than ${MAX_BYTES} bytes together`,
      );
    }
    return await blobs.read(digest);
  };
  const config = await readJson<ModelConfig>(read, manifest.config);
  const source = sourceOf(blobs, manifest, config);
  const defaults = {
    ...await readDefaults(read, manifest, config),
    ...controlVectorsOf(blobs, manifest, config),
  };
  return { manifest, config, source, defaults, bytes };
}

/** Size of all blobs of a manifest in bytes. */
export function sizeOfModel({ config, layers }: Manifest): number {
  return layers.reduce((sum, { size }) => sum + size, config.size);
}

/** The facts of a model on another server, as far as its config has them. */
export function remoteInfo(config: ModelConfig): ModelInfo {
  const capabilities = config.capabilities ?? ["completion", "tools"];
  const completes = capabilities.includes("completion");
  return {
    architecture: config.model_family || "remote",
    parameterCount: parseCount(config.model_type),
    quantization: config.file_type || "unknown",
    trainedContextLength: config.context_length ?? 0,
    embeddingLength: config.embedding_length ?? 0,
    fileSize: 0,
    hasChatTemplate: completes,
    callsTools: capabilities.includes("tools"),
    thinks: capabilities.includes("thinking"),
    fillsInMiddle: capabilities.includes("insert"),
    readsImages: capabilities.includes("vision"),
    isEmbeddingModel: capabilities.includes("embedding") && !completes,
  };
}

function sourceOf(blobs: BlobStore, { layers }: Manifest, config: ModelConfig): ModelSource {
  const { remote_host: host, remote_model: model } = config;
  if (host && model) return { kind: "remote", host, model };
  const pathsOf = (mediaType: string) =>
    layers.filter((layer) => layer.mediaType === mediaType).map(({ digest }) =>
      blobs.pathOf(digest)
    );
  const path = pathsOf(MEDIA.model).at(-1);
  if (!path) {
    const format = layers.some(({ mediaType }) => mediaType === MEDIA.tensor)
      ? "its weights are safetensors, and only GGUF runs: pull it in another format"
      : "its manifest names no weights";
    throw new StoreError(`Cannot run the model: ${format}`);
  }
  const projector = pathsOf(MEDIA.projector).at(-1);
  const draft = pathsOf(MEDIA.draft).at(-1);
  return {
    kind: "files",
    path,
    ...(projector && { projector }),
    ...(draft && { draft }),
    adapters: pathsOf(MEDIA.adapter),
  };
}

/** The control vectors with their scales. @throws {StoreError} if these are no numbers for them */
function controlVectorsOf(
  blobs: BlobStore,
  { layers }: Manifest,
  { control_scales: scales }: ModelConfig,
): Pick<ModelDefaults, "controlVectors"> {
  const vectors = layers.filter(({ mediaType }) => mediaType === MEDIA.controlVector);
  if (vectors.length === 0) return {};
  const given: unknown = scales ?? vectors.map(() => 1);
  if (!Array.isArray(given) || given.length !== vectors.length || !given.every(Number.isFinite)) {
    const state = `control_scales of its config are not ${vectors.length} numbers`;
    throw new StoreError(`Cannot read the model: ${state}`);
  }
  return {
    controlVectors: vectors.map(({ digest }, i) => ({
      path: blobs.pathOf(digest),
      scale: given[i],
    })),
  };
}

async function readDefaults(
  read: ReadLayer,
  { layers }: Manifest,
  { template_source: templateSource, renderer, parser, requires }: ModelConfig,
): Promise<ModelDefaults> {
  const ofKind = (...kinds: string[]) =>
    layers.filter(({ mediaType }) => kinds.includes(mediaType));
  const text = async (layer: Layer | undefined) =>
    layer && new TextDecoder().decode(await read(layer));
  const json = async <T>(layer: Layer | undefined, otherwise: T) =>
    layer ? await readJson<T>(read, layer) : otherwise;
  const template = await text(ofKind(MEDIA.template, MEDIA.prompt).at(-1));
  const system = await text(ofKind(MEDIA.system).at(-1));
  const license: string[] = [];
  for (const layer of ofKind(MEDIA.license)) license.push((await text(layer))!);
  return {
    ...(template !== undefined && { template }),
    ...(templateSource && { templateSource }),
    ...(system !== undefined && { system }),
    parameters: await json<Record<string, unknown>>(ofKind(MEDIA.params).at(-1), {}),
    messages: await json<ModelDefaults["messages"]>(ofKind(MEDIA.messages).at(-1), []),
    license,
    ...(renderer && { renderer }),
    ...(parser && { parser }),
    ...(requires && { requires }),
  };
}

async function readJson<T>(read: ReadLayer, layer: Layer): Promise<T> {
  const bytes = await read(layer);
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Reported below.
  }
  const { digest, mediaType } = layer;
  throw new StoreError(`Cannot read blob ${digest} as ${mediaType}: it is not a JSON document`);
}

/** "999.89M" as a number; 0 if it is not one. */
function parseCount(text: string | undefined): number {
  const [, digits, letter = ""] = /^([\d.]+)([KMBT]?)$/i.exec(text ?? "") ?? [];
  const unit = { K: 1e3, M: 1e6, B: 1e9, T: 1e12 }[letter.toUpperCase()] ?? 1;
  return digits ? Math.round(Number(digits) * unit) : 0;
}
