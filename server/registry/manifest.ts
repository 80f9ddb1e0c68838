// Gets a model's manifest and validates it, because it comes from the network and decides what is
// written to the disk. Its bytes are kept, because their digest identifies the model.

import { createHash } from "node:crypto";
import { type Layer, type Manifest, MEDIA } from "../../engine/mod.ts";
import type { RegistryClient } from "./client.ts";
import { RegistryError } from "./errors.ts";
import { readAll, statusError, Watchdog, withRetries } from "./retry.ts";
import type { TransferTuning } from "./tuning.ts";

const OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const MANIFESTS: string[] = [MEDIA.manifest, OCI_MANIFEST];
const LISTS = [
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.index.v1+json",
];
const LAYER_PREFIX = "application/vnd.ollama.image.";
const LARGEST_MANIFEST = 4 * 2 ** 20;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** A manifest with the bytes that it was read from. */
export interface FetchedManifest {
  manifest: Manifest;
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * The manifest of the client's model.
 *
 * @throws {RegistryError} status 404 if the registry has no such model; or if what it has is none
 */
export function fetchManifest(
  client: RegistryClient,
  { tuning, signal }: { tuning: TransferTuning; signal: AbortSignal },
): Promise<FetchedManifest> {
  const subject = "pull model manifest";
  return withRetries(async () => {
    using watchdog = new Watchdog(subject, tuning.stall, signal);
    const headers = { accept: MANIFESTS.join(", ") };
    const request = { subject, headers, watchdog };
    const response = await client.sendFirst(
      client.reference.manifestUrl,
      request,
      tuning.connect,
    );
    if (response.status === 404) {
      await response.body?.cancel().catch(() => {});
      throw new RegistryError(`${subject}: file does not exist`, { status: 404 });
    }
    if (response.status !== 200) throw await statusError(response, subject);
    const bytes = await readAll(response, { subject, limit: LARGEST_MANIFEST, watchdog });
    checkDigest(bytes, response.headers.get("docker-content-digest"), subject);
    return { manifest: checkManifest(bytes, subject), bytes };
  }, { tuning, signal, reach: tuning.reach });
}

/**
 * Reads a manifest of a model.
 *
 * @param subject what was attempted, for the message
 * @throws {RegistryError} if it is no such manifest, or a digest or size in it cannot be one
 */
function checkManifest(bytes: Uint8Array, subject: string): Manifest {
  const fail = (state: string): never => {
    throw new RegistryError(`${subject}: ${state}`);
  };
  const manifest = parseJson(bytes) ?? fail("the manifest is not JSON, or is cut off");
  const { schemaVersion, mediaType, config } = manifest;
  const layers = manifest.layers ??= [];
  if (LISTS.includes(String(mediaType)) || "manifests" in manifest) {
    fail("the name stands for a list of manifests, as container images have them, not for a model");
  }
  if (schemaVersion !== 2) fail(`manifest schema version ${schemaVersion} is not supported`);
  if (mediaType !== undefined && !MANIFESTS.includes(String(mediaType))) {
    fail(`manifests of type "${mediaType}" are not supported`);
  }
  if (!Array.isArray(layers)) fail("the manifest has no list of layers");
  for (const layer of [config, ...layers as unknown[]]) checkLayer(layer, fail);
  const model = manifest as unknown as Manifest;
  if (model.layers.length && !model.layers.some(isModelLayer)) {
    fail(
      "what the name stands for is not a model: none of its layers is of a type that models have",
    );
  }
  const sizes = new Map<string, number>();
  for (const { digest, size } of [model.config, ...model.layers]) {
    if ((sizes.get(digest) ?? size) !== size) fail(`the manifest gives ${digest} two sizes`);
    sizes.set(digest, size);
  }
  return model;
}

/** The blobs of a model: its layers, then its config; each once. */
export function blobsOf({ layers, config }: Manifest): Layer[] {
  return [...new Map([...layers, config].map((layer) => [layer.digest, layer])).values()];
}

function parseJson(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function checkLayer(layer: unknown, fail: (state: string) => never): void {
  const { mediaType, digest, size } = (layer ?? {}) as Partial<Layer>;
  if (typeof digest !== "string" || !DIGEST.test(digest)) {
    fail(`the manifest names a blob by ${JSON.stringify(digest)}, which is no SHA-256 digest`);
  }
  if (!Number.isSafeInteger(size) || size! < 0) {
    fail(`the manifest gives ${digest} the size ${JSON.stringify(size)}`);
  }
  if (typeof mediaType !== "string") fail(`the manifest does not say of what type ${digest} is`);
}

function isModelLayer({ mediaType }: Layer): boolean {
  return mediaType.startsWith(LAYER_PREFIX);
}

function checkDigest(bytes: Uint8Array, expected: string | null, subject: string): void {
  if (expected === null || !DIGEST.test(expected)) return;
  const actual = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  if (actual === expected) return;
  const state = `digest mismatch of the manifest, expected "${expected}", got "${actual}"`;
  throw new RegistryError(`${subject}: ${state}`, { transient: true });
}
