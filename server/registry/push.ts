// Pushes a model of the store to the registry of its name: blobs that the registry lacks, then the
// manifest, so that the registry has the whole model or does not have it.

import {
  encodeManifest,
  type Layer,
  type Manifest,
  MEDIA,
  type ModelStore,
} from "../../engine/mod.ts";
import { BlobUpload } from "./blob_upload.ts";
import type { RegistryClient } from "./client.ts";
import { RegistryError } from "./errors.ts";
import { blobsOf } from "./manifest.ts";
import type { RegistryReference } from "./reference.ts";
import { statusError, withRetries } from "./retry.ts";
import { type Transfer, transfer, type TransferOptions } from "./transfer.ts";
import { transferBlobs, type TransferProgress } from "./transfers.ts";
import type { TransferTuning } from "./tuning.ts";
import { Watchdog } from "./watchdog.ts";

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
