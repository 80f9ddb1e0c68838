// Makes a manifest for a model without one, so that it can get other names: for a single file, or
// for a model on another server. Files are copied, because a blob that others may write to could
// change its digest.

import { fileSystem, sha256 } from "../../host/mod.ts";
import { parseShardName } from "../gguf/mod.ts";
import type { ModelInfo } from "../types/mod.ts";
import type { BlobStore, StoredBlob } from "./blobs.ts";
import { StoreError } from "./errors.ts";
import { encodeGoJson, encodeManifest, type Layer, type Manifest, MEDIA } from "./manifest.ts";
import { digestOfBytes } from "./header_cache.ts";
import type { ModelConfig, StoreEntry } from "./types.ts";

/** Takes a content of a model, and tells what a manifest says of it. */
type Put = (
  content: Uint8Array | ReadableStream<Uint8Array>,
) => Promise<Pick<StoredBlob, "digest" | "size">>;

/**
 * Copies the files of an entry into the blobs.
 *
 * @throws {StoreError} if it is a split model, or the folder cannot be written
 */
export async function importFiles(blobs: BlobStore, entry: StoreEntry): Promise<Manifest> {
  return await manifestOf(entry, (content) => blobs.put(content));
}

/**
 * SHA-256 in hex of the manifest that importFiles() would make. The files are read, and nothing is
 * written.
 *
 * @throws {StoreError} if it is a split model
 */
export async function digestOfImport(entry: StoreEntry): Promise<string> {
  return await digestOfBytes(encodeManifest(await manifestOf(entry, measure)));
}

async function measure(content: Uint8Array | ReadableStream<Uint8Array>) {
  const hash = sha256();
  let size = 0;
  for await (const bytes of content instanceof Uint8Array ? [content] : content) {
    hash.update(bytes);
    size += bytes.length;
  }
  return { digest: `sha256:${hash.digest("hex")}`, size };
}

async function manifestOf(entry: StoreEntry, put: Put): Promise<Manifest> {
  const { name, info, source } = entry;
  if (source.kind === "remote") return await putConfig(put, entry.config!, []);
  if (parseShardName(source.path)) {
    throw new StoreError(
      `Cannot copy "${name}": its weights are in several files: ` +
        "join them first, for example with llama-gguf-split --merge",
    );
  }
  const layers = [await putFile(put, source.path, MEDIA.model)];
  if (source.projector) layers.push(await putFile(put, source.projector, MEDIA.projector));
  return await putConfig(put, configOf(info, layers.map(({ digest }) => digest)), layers);
}

async function putConfig(
  put: Put,
  config: ModelConfig,
  layers: Layer[],
): Promise<Manifest> {
  const { digest, size } = await put(new TextEncoder().encode(encodeGoJson(config)));
  return {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config: { mediaType: MEDIA.config, digest, size },
    layers,
  };
}

/** The config of a model with this header. Fields are in Ollama's order. */
export function configOf(info: ModelInfo, digests: string[]): ModelConfig {
  return {
    model_format: "gguf",
    model_family: info.architecture,
    model_families: [info.architecture],
    model_type: formatCount(info.parameterCount),
    file_type: info.quantization,
    architecture: "amd64",
    os: "linux",
    rootfs: { type: "layers", diff_ids: digests },
  };
}

async function putFile(put: Put, path: string, mediaType: string): Promise<Layer> {
  const file = await fileSystem().open(path);
  const { digest, size } = await put(file.readable);
  return { mediaType, digest, size };
}

/** A number of weights in Ollama's format: 999.89M, 3.2B, 7B, 260K. */
export function formatCount(count: number): string {
  for (const [unit, letter, digits] of [[1e9, "B", 1], [1e6, "M", 2], [1e3, "K", 0]] as const) {
    const scaled = count / unit;
    if (scaled >= 1) return scaled.toFixed(Number.isInteger(scaled) ? 0 : digits) + letter;
  }
  return String(count);
}
