// Gets one blob into the store: opens its partial file, downloads what is missing, compares the
// digest, and only then makes it a blob. Pulls of the same blob share one download.

import type { BlobStore, Layer } from "../../engine/mod.ts";
import { BlobDownload } from "./blob_download.ts";
import type { RegistryClient } from "./client.ts";
import { DigestMismatchError } from "./errors.ts";
import type { Semaphore } from "./parts.ts";
import { openPartial, type PartialFile } from "./partial_file.ts";
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

// Work that several callers want at the same time is done once for all of them, within this
// process. It is aborted when the last caller has given up.

/** Work that is under way. */
interface Running {
  readonly result: Promise<void>;
  readonly controller: AbortController;
  readonly reports: Set<(progress: number) => void>;
}

const running = new Map<string, Running>();

/**
 * Does the work, or waits for the caller that does it already. If that one fails, a waiting caller
 * tries the work itself, since it may have other options.
 *
 * @param key the same for the same work, anywhere in this process
 * @param report receives the progress, also if another caller started the work
 */
async function shareWork(
  key: string,
  work: (report: (progress: number) => void, signal: AbortSignal) => Promise<void>,
  report: (progress: number) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const existing = running.get(key);
    const joined = existing ?? start(key, work);
    try {
      return await attend(joined, report, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!existing) throw error;
    }
  }
}

function start(
  key: string,
  work: (report: (progress: number) => void, signal: AbortSignal) => Promise<void>,
): Running {
  const controller = new AbortController();
  const reports = new Set<(progress: number) => void>();
  const tell = (progress: number) => {
    for (const report of reports) report(progress);
  };
  const result = work(tell, controller.signal).finally(() => running.delete(key));
  const started = { result, controller, reports };
  running.set(key, started);
  return started;
}

async function attend(
  { result, controller, reports }: Running,
  report: (progress: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const own = (progress: number) => report(progress);
  reports.add(own);
  const left = Promise.withResolvers<never>();
  const leave = () => {
    reports.delete(own);
    if (reports.size === 0) controller.abort(signal.reason);
    left.reject(signal.reason);
  };
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    await Promise.race([result, left.promise]);
  } catch (error) {
    // The last caller waits for the end of the work, because the file must be closed when the pull
    // is over.
    if (reports.size === 0) await result.catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
    reports.delete(own);
  }
}
