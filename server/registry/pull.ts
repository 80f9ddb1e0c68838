// Pulls a model from a registry into the store: manifest, missing blobs, and the manifest last, so
// that the store has the whole model or does not have it.

import {
  encodeManifest,
  type Layer,
  type Manifest,
  MEDIA,
  type ModelName,
  type ModelStore,
} from "../../engine/mod.ts";
import { pullBlob } from "./blob_pull.ts";
import { BlobUpload } from "./blob_upload.ts";
import type { RegistryClient } from "./client.ts";
import { ensureSpace, explainDiskFull } from "./disk_space.ts";
import { RegistryError } from "./errors.ts";
import { blobsOf, fetchManifest } from "./manifest.ts";
import { Semaphore } from "./parts.ts";
import type { RegistryReference } from "./reference.ts";
import { statusError, Watchdog, withRetries } from "./retry.ts";
import {
  type Transfer,
  transfer,
  transferBlobs,
  type TransferOptions,
  type TransferProgress,
} from "./transfers.ts";
import type { TransferTuning } from "./tuning.ts";

/**
 * Pulls a model and yields its progress; the last record's status is "success". The model in the box is
 * not downloaded, but listed again if it was removed.
 *
 * @param name `[scheme://][host/][namespace/]model[:tag]`
 * @throws {RegistryError} what the registry refuses or fails to send; 404: it has no such model
 * @throws {DiskFullError} if the disk has, or comes to have, no room for it
 * @throws {StoreError} if the name is none
 */
export async function* pullModel(
  store: ModelStore,
  name: string,
  options: TransferOptions,
): AsyncGenerator<TransferProgress> {
  if (await store.restore(name)) {
    // The model is part of the program: no registry has it.
    yield { status: "pulling manifest" };
    yield { status: "success" };
    return;
  }
  yield* transfer(store, name, options, pull);
}

async function pull(
  { store, client, tuning, freeBytes, outlet, signal }: Transfer,
): Promise<void> {
  outlet.emit({ status: "pulling manifest" });
  const { manifest, bytes } = await fetchManifest(client, { tuning, signal });
  const blobs = blobsOf(manifest);
  await ensureSpace(store.blobs, blobs, freeBytes);

  const semaphore = new Semaphore(tuning.streams);
  const pullOptions = { blobs: store.blobs, client, semaphore, tuning };
  try {
    await transferBlobs(
      "pulling",
      blobs,
      (blob, report, signal) => pullBlob(blob, pullOptions, report, signal),
      { outlet, tuning, limit: tuning.streams, signal },
    );
    // Each blob was hashed as it arrived, so all have the digests of their names.
    outlet.emit({ status: "verifying sha256 digest" });
    outlet.emit({ status: "writing manifest" });
    const { name } = client.reference;
    const replaces = await dropsLayers(store, name, blobs);
    await store.writeManifest(name, bytes);
    if (replaces) outlet.emit({ status: "removing unused layers" });
  } catch (error) {
    throw await explainDiskFull(error, store.blobs, blobs, freeBytes);
  }
  outlet.emit({ status: "success" });
}

/** Whether the store's manifest of that name has blobs that the new one has not. */
async function dropsLayers(
  store: ModelStore,
  name: ModelName,
  blobs: readonly Layer[],
): Promise<boolean> {
  // A manifest that cannot be read is replaced as well.
  const old = await store.readManifest(name).catch(() => undefined);
  const kept = new Set(blobs.map(({ digest }) => digest));
  return old !== undefined && blobsOf(old).some(({ digest }) => !kept.has(digest));
}

// Pushes a model of the store to the registry of its name: blobs that the registry lacks, then the
// manifest, so that the registry has the whole model or does not have it.

/**
 * Pushes a model and yields its progress; the last record's status is "success".
 *
 * @param name the model's name in the store, which names the registry as well
 * @throws {ModelNotFoundError} if the store has no such model
 * @throws {RegistryError} what the registry refuses or fails to take
 * @throws {StoreError} if the name is none
 */
export function pushModel(
  store: ModelStore,
  name: string,
  options: TransferOptions,
): AsyncGenerator<TransferProgress> {
  return transfer(store, name, options, push);
}

async function push({ store, client, tuning, outlet, signal }: Transfer): Promise<void> {
  outlet.emit({ status: "retrieving manifest" });
  const manifest = await requireManifest(store, client.reference);
  const blobs = blobsOf(manifest);
  for (const blob of blobs) await requireBlob(store, blob);
  await transferBlobs(
    "pushing",
    blobs,
    (blob, report, signal) =>
      new BlobUpload(blob, { blobs: store.blobs, client, tuning, report }).run(signal),
    { outlet, tuning, limit: tuning.streamsPerBlob, signal },
  );
  outlet.emit({ status: "pushing manifest" });
  await putManifest(client, manifest, tuning, signal);
  outlet.emit({ status: "success" });
}

async function requireManifest(
  store: ModelStore,
  { name }: RegistryReference,
): Promise<Manifest> {
  const manifest = await store.readManifest(name);
  if (manifest) return manifest;
  await store.find(name.toString());
  throw new RegistryError(
    `Cannot push "${name}": it is a file that lies in the folder of models, not a model of the ` +
      `store; make it one with: quern cp ${name} NAME`,
  );
}

async function requireBlob(store: ModelStore, { digest, size }: Layer): Promise<void> {
  const actual = await store.blobs.sizeOf(digest);
  if (actual === size) return;
  const state = actual === undefined
    ? "it is not in the store"
    : `it has ${actual} bytes in the store, not ${size}`;
  throw new RegistryError(`Cannot push blob ${digest}: ${state}; pull or create the model again`);
}

async function putManifest(
  client: RegistryClient,
  manifest: Manifest,
  tuning: TransferTuning,
  signal: AbortSignal,
): Promise<void> {
  const subject = "push model manifest";
  const body = encodeManifest(manifest);
  const headers = { "content-type": manifest.mediaType ?? MEDIA.manifest };
  await withRetries(async () => {
    using watchdog = new Watchdog(subject, tuning.commit, signal);
    const request = { method: "PUT", headers, body, subject, watchdog };
    const response = await client.send(client.reference.manifestUrl, request);
    if (!response.ok) throw await statusError(response, subject);
    await response.body?.cancel().catch(() => {});
  }, { tuning, signal });
}
