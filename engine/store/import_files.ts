// Makes a manifest for a model without one, so that it can get other names: for a single file, or
// for a model on another server. Files are copied, because a blob that others may write to could
// change its digest.

import { parseShardName } from "../gguf/mod.ts";
import type { ModelInfo } from "../types/mod.ts";
import type { BlobStore } from "./blobs.ts";
import { StoreError } from "./errors.ts";
import { encodeGoJson } from "./go_json.ts";
import { type Layer, type Manifest, MEDIA } from "./manifest.ts";
import type { ModelConfig, StoreEntry } from "./types.ts";

/**
 * Copies the files of an entry into the blobs.
 *
 * @throws {StoreError} if it is a split model, or the folder cannot be written
 */
export async function importFiles(blobs: BlobStore, entry: StoreEntry): Promise<Manifest> {
  const { name, info, source } = entry;
  if (source.kind === "remote") return await putConfig(blobs, entry.config!, []);
  if (parseShardName(source.path)) {
    throw new StoreError(
      `Cannot copy "${name}": its weights are in several files: ` +
        "join them first, for example with llama-gguf-split --merge",
    );
  }
  const layers = [await putFile(blobs, source.path, MEDIA.model)];
  if (source.projector) layers.push(await putFile(blobs, source.projector, MEDIA.projector));
  return await putConfig(blobs, configOf(info, layers.map(({ digest }) => digest)), layers);
}

async function putConfig(
  blobs: BlobStore,
  config: ModelConfig,
  layers: Layer[],
): Promise<Manifest> {
  const { digest, size } = await blobs.put(new TextEncoder().encode(encodeGoJson(config)));
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

async function putFile(blobs: BlobStore, path: string, mediaType: string): Promise<Layer> {
  const file = await Deno.open(path);
  const { digest, size } = await blobs.put(file.readable);
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
