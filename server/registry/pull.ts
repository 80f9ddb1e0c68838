// Pulls a model from a registry into the store: manifest, missing blobs, and the manifest last, so
// that the store has the whole model or does not have it.

import type { Layer, ModelName, ModelStore } from "../../engine/mod.ts";
import { pullBlob } from "./blob_pull.ts";
import { type ClientOptions, RegistryClient } from "./client.ts";
import { ensureSpace, explainDiskFull, type FreeBytes, systemFreeBytes } from "./disk_space.ts";
import { blobsOf, fetchManifest } from "./manifest.ts";
import { Slots } from "./parallel.ts";
import { RegistryReference } from "./reference.ts";
import { type Outlet, relay } from "./relay.ts";
import { transferBlobs, type TransferProgress } from "./transfers.ts";
import { DEFAULT_TUNING, type TransferTuning } from "./tuning.ts";

/** How to pull or push. */
export interface TransferOptions extends ClientOptions {
  /** Allows http, which is then the default, for the registry and all it redirects to. */
  insecure?: boolean;
  /** Ends the transfer; what a pull has downloaded stays for the next one. */
  signal: AbortSignal;
  /** Other sizes and times than the usual ones. */
  tuning?: Partial<TransferTuning>;
  /** Bytes that can still be written to a folder's disk. Default: what the system says. */
  freeBytes?: FreeBytes;
}

/**
 * Pulls a model, reporting as it goes; the last record's status is "success".
 *
 * @param name `[scheme://][host/][namespace/]model[:tag]`
 * @throws {RegistryError} what the registry refuses or fails to send; 404: it has no such model
 * @throws {DiskFullError} if the disk has, or comes to have, no room for it
 * @throws {StoreError} if the name is none
 */
export function pullModel(
  store: ModelStore,
  name: string,
  options: TransferOptions,
): AsyncGenerator<TransferProgress> {
  const work = async (outlet: Outlet<TransferProgress>, signal: AbortSignal) => {
    const reference = new RegistryReference(name, options.insecure ?? false);
    await store.protect(() => pull(store, reference, options, outlet, signal));
  };
  return relay(work, options.signal);
}

async function pull(
  store: ModelStore,
  reference: RegistryReference,
  options: TransferOptions,
  outlet: Outlet<TransferProgress>,
  signal: AbortSignal,
): Promise<void> {
  const tuning = { ...DEFAULT_TUNING, ...options.tuning };
  const client = new RegistryClient(reference, options);
  outlet.emit({ status: "pulling manifest" });
  const { manifest, bytes } = await fetchManifest(client, { tuning, signal });
  const blobs = blobsOf(manifest);
  const { freeBytes = systemFreeBytes } = options;
  await ensureSpace(store.blobs, blobs, freeBytes);

  const slots = new Slots(tuning.streams);
  const pullOptions = { blobs: store.blobs, client, slots, tuning };
  try {
    await transferBlobs(
      "pulling",
      blobs,
      (blob, report, signal) => pullBlob(blob, pullOptions, report, signal),
      { outlet, tuning, limit: tuning.streams, signal },
    );
    // Each blob was hashed as it came; none got here with another digest than its name.
    outlet.emit({ status: "verifying sha256 digest" });
    outlet.emit({ status: "writing manifest" });
    const replaces = await dropsLayers(store, reference.name, blobs);
    await store.writeManifest(reference.name, bytes);
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
  // One that cannot be read is replaced all the same.
  const old = await store.readManifest(name).catch(() => undefined);
  const kept = new Set(blobs.map(({ digest }) => digest));
  return old !== undefined && blobsOf(old).some(({ digest }) => !kept.has(digest));
}
