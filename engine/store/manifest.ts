// Manifests: which blobs make a model, as a registry serves them and the store keeps them. Bytes in
// and out; no file is touched here. The format is Docker's image manifest, version 2, schema 2, with
// the media types of Ollama.

import { StoreError } from "./errors.ts";
import { encodeGoJson } from "./go_json.ts";

const IMAGE = "application/vnd.ollama.image.";

/** The media types of a manifest and of what it names. */
export const MEDIA = {
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  config: "application/vnd.docker.container.image.v1+json",
  model: `${IMAGE}model`,
  projector: `${IMAGE}projector`,
  adapter: `${IMAGE}adapter`,
  template: `${IMAGE}template`,
  /** The old name of a template. */
  prompt: `${IMAGE}prompt`,
  system: `${IMAGE}system`,
  params: `${IMAGE}params`,
  messages: `${IMAGE}messages`,
  license: `${IMAGE}license`,
  draft: `${IMAGE}draft`,
  tensor: `${IMAGE}tensor`,
  json: `${IMAGE}json`,
} as const;

/** A blob as a manifest names it. */
export interface Layer {
  /** What it is: one of {@linkcode MEDIA}. */
  mediaType: string;
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string;
  /** In bytes. */
  size: number;
  /** Where it came from, for people. */
  from?: string;
}

/** The blobs of a model. Fields that are not known here are kept. */
export interface Manifest {
  /** Always 2. */
  schemaVersion: 2;
  /** `MEDIA.manifest`. */
  mediaType: string;
  /** The blob of the model's facts. */
  config: Layer;
  /** Weights, templates, parameters and the like. */
  layers: Layer[];
}

/** `sha256:` and small digits, of a digest as any tool writes it; undefined if it is none. */
export function canonicalDigest(text: string): string | undefined {
  const [, hex] = /^sha256[:-]([0-9a-f]{64})$/i.exec(text) ?? [];
  return hex === undefined ? undefined : `sha256:${hex.toLowerCase()}`;
}

/**
 * Reads the bytes of a manifest.
 *
 * @throws {StoreError} if they are none
 */
export function parseManifest(bytes: Uint8Array): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new StoreError("Cannot read a manifest: it is not JSON");
  }
  if (!isRecord(value) || !isLayer(value.config) || !Array.isArray(value.layers ?? [])) {
    throw new StoreError("Cannot read a manifest: it has no config or layers");
  }
  const layers: unknown[] = value.layers as unknown[] ?? [];
  if (!layers.every(isLayer)) {
    throw new StoreError("Cannot read a manifest: a layer has no media type, digest or size");
  }
  return { ...value, layers } as unknown as Manifest;
}

/** The bytes of a manifest, the same as Ollama's for the same layers. */
export function encodeManifest(manifest: Manifest): Uint8Array<ArrayBuffer> {
  const { schemaVersion, mediaType, config, layers, ...others } = manifest;
  const text = encodeGoJson({
    schemaVersion,
    mediaType,
    config: inOrder(config),
    layers: layers.map(inOrder),
    ...others,
  });
  return new TextEncoder().encode(text);
}

/** Digests of the blobs of a manifest, config first, each once. */
export function blobsOf({ config, layers }: Manifest): string[] {
  return [...new Set([config, ...layers].map(({ digest }) => canonicalDigest(digest)!))];
}

/**
 * Every blob that the bytes of a manifest may be in need of: of what we cannot read, whatever looks
 * like a digest, so that nothing is taken from a program that knows more than we do.
 */
export function blobsNamedIn(bytes: Uint8Array): string[] {
  try {
    return blobsOf(parseManifest(bytes));
  } catch {
    const text = new TextDecoder().decode(bytes);
    return (text.match(/sha256[:-][0-9a-f]{64}/gi) ?? []).map((digest) => canonicalDigest(digest)!);
  }
}

function inOrder({ mediaType, digest, size, from, ...others }: Layer): unknown {
  return { mediaType, digest, size, ...(from && { from }), ...others };
}

function isLayer(value: unknown): value is Layer {
  return isRecord(value) && typeof value.mediaType === "string" &&
    typeof value.size === "number" && value.size >= 0 &&
    typeof value.digest === "string" && canonicalDigest(value.digest) !== undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
