// JSON in the format of Go's encoding/json: compact, with HTML's special characters escaped. So
// what we store has the same bytes, and the same digest, as what Ollama stores.

import { StoreError } from "./errors.ts";

/** A value as text. Fields are in the order of the object. */
export function encodeGoJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The bytes of a blob with a value. Members are in the order of the object. */
export function encodeDocument(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(encodeGoJson(value) + "\n");
}

/** An object with its members ordered by name, as Go writes its maps. */
export function sortedByName<T>(object: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1));
}

// Manifests, which list the blobs of a model, as registries serve them and the store keeps them.
// Works on bytes, not files. The format is Docker's image manifest, version 2, schema 2, with
// Ollama's media types.

const IMAGE = "application/vnd.ollama.image.";

/** The media types of a manifest and its blobs. */
export const MEDIA = {
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  config: "application/vnd.docker.container.image.v1+json",
  model: `${IMAGE}model`,
  projector: `${IMAGE}projector`,
  adapter: `${IMAGE}adapter`,
  template: `${IMAGE}template`,
  /** The former name of a template. */
  prompt: `${IMAGE}prompt`,
  system: `${IMAGE}system`,
  params: `${IMAGE}params`,
  messages: `${IMAGE}messages`,
  license: `${IMAGE}license`,
  draft: `${IMAGE}draft`,
  tensor: `${IMAGE}tensor`,
  json: `${IMAGE}json`,
  /** A control vector. Ours: Ollama keeps such layers and does not use them. */
  controlVector: "application/vnd.quern.image.control_vector",
} as const;

/** A blob as a manifest names it. */
export interface Layer {
  /** Type of the blob: one of {@linkcode MEDIA}. */
  mediaType: string;
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string;
  /** In bytes. */
  size: number;
  /** The origin of the layer, for people. */
  from?: string;
}

/** The blobs of a model. Unknown fields are kept. */
export interface Manifest {
  /** Always 2. */
  schemaVersion: 2;
  /** `MEDIA.manifest`. */
  mediaType: string;
  /** The blob with the model's facts. */
  config: Layer;
  /** Blobs with weights, templates, parameters and others. */
  layers: Layer[];
}

/**
 * A digest as `sha256:` and lower-case digits, from any common spelling; undefined if it is none.
 */
export function canonicalDigest(text: string): string | undefined {
  const [, hex] = /^sha256[:-]([0-9a-f]{64})$/i.exec(text) ?? [];
  return hex === undefined ? undefined : `sha256:${hex.toLowerCase()}`;
}

/**
 * Parses a manifest.
 *
 * @throws {StoreError} if it is invalid
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

/** The bytes of a manifest, which equal Ollama's for the same layers. */
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
 * All digests that a manifest may refer to. In manifests that we cannot parse, everything that
 * looks like a digest counts, so that no blob of a newer program is removed.
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
