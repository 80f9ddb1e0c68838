// Pulls a model from a registry into the store: manifest, missing blobs, and the manifest last, so
// that the store has the whole model or does not have it.

import type { Layer, ModelName, ModelStore } from "../../engine/mod.ts";
import { pullBlob } from "./blob_pull.ts";
import { ensureSpace, explainDiskFull } from "./disk_space.ts";
import { blobsOf, fetchManifest } from "./manifest.ts";
import { Semaphore } from "./parallel.ts";
import { type Transfer, transfer, type TransferOptions } from "./transfer.ts";
import { transferBlobs, type TransferProgress } from "./transfers.ts";

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
