// Gets one blob into the store: opens its partial file, downloads what is missing, compares the
// digest, and only then makes it a blob. Pulls of the same blob share one download.

import type { BlobStore, Layer } from "../../engine/mod.ts";
import { BlobDownload } from "./blob_download.ts";
import type { RegistryClient } from "./client.ts";
import { DigestMismatchError } from "./errors.ts";
import type { Semaphore } from "./parallel.ts";
import { openPartial, type PartialFile } from "./partial_file.ts";
import { shareWork } from "./shared_work.ts";
import type { TransferTuning } from "./tuning.ts";

/** The parts that a blob's pull needs. */
export interface BlobPullOptions {
  blobs: BlobStore;
  client: RegistryClient;
  semaphore: Semaphore;
  tuning: TransferTuning;
}

/**
 * Makes sure that the store has the blob. After a failure, what was downloaded stays for the next pull,
 * unless its digest is wrong.
 *
 * @throws {DigestMismatchError} if what the registry sent is another blob
 * @throws {RegistryError} if the registry does not send it
 */
export async function pullBlob(
  blob: Layer,
  options: BlobPullOptions,
  report: (completed: number) => void,
  signal: AbortSignal,
): Promise<void> {
  if (await isThere(blob, options.blobs)) return;
  await shareWork(
    options.blobs.pathOf(blob.digest),
    (report, signal) => download(blob, options, report, signal),
    report,
    signal,
  );
}

/** Whether the store has a blob of the right size. */
export async function isThere({ digest, size }: Layer, blobs: BlobStore): Promise<boolean> {
  // A file of another size was left by the crash of a program that writes blobs in place.
  return await blobs.sizeOf(digest) === size;
}

async function download(
  blob: Layer,
  options: BlobPullOptions,
  report: (completed: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { blobs, tuning } = options;
  await Deno.mkdir(blobs.folder, { recursive: true });
  const path = blobs.partialPath(blob.digest);
  using partial = await openPartial(path, {
    total: blob.size,
    partBytes: partBytes(blob.size, tuning),
    recordInterval: tuning.record,
    isDone: () => isThere(blob, blobs),
    onWait: report,
    pollInterval: tuning.lockPoll,
    signal,
  });
  if (!partial) return;
  try {
    report(partial.completed);
    const isResumed = partial.completed > 0;
    let digest = await fill(partial, blob, options, report, signal);
    if (digest !== blob.digest && isResumed) {
      // The bytes of an earlier download may be wrong, for instance after a loss of power.
      await partial.discard();
      digest = await fill(partial, blob, options, report, signal);
    }
    if (digest !== blob.digest) {
      await partial.remove();
      throw new DigestMismatchError(blob.digest, digest);
    }
    await blobs.adopt(path, digest);
    await partial.removeRecords();
  } catch (error) {
    // If this cannot be written either, the next pull downloads a little more.
    await partial.recordAll().catch(() => {});
    throw error;
  } finally {
    await partial.settle();
  }
}

/** Completes the partial file and gives its digest. */
async function fill(
  partial: PartialFile,
  blob: Layer,
  { client, semaphore, tuning }: BlobPullOptions,
  report: (completed: number) => void,
  signal: AbortSignal,
): Promise<string> {
  await new BlobDownload({
    client,
    digest: blob.digest,
    total: blob.size,
    partial,
    semaphore,
    tuning,
    onProgress: () => report(partial.completed),
  }).run(signal);
  return await partial.digest();
}

function partBytes(total: number, { parts, smallestPart, largestPart }: TransferTuning): number {
  return Math.min(largestPart, Math.max(smallestPart, Math.ceil(total / parts)));
}
