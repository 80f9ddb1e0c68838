// Whether the disk of the store has room for what a pull has yet to write. This is checked before
// the pull begins; if the disk fills up on the way, the error says so.

import { statfs } from "node:fs/promises";
import type { BlobStore, Layer } from "../../engine/mod.ts";
import { isThere } from "./blob_pull.ts";
import { DiskFullError } from "./errors.ts";
import { recordedBytes } from "./parts.ts";

/** Bytes that can still be written to the disk of a folder. */
export type FreeBytes = (folder: string) => Promise<number>;

/** Bytes that are free for this user, as the system says. */
export const systemFreeBytes: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/**
 * Checks that the missing blobs fit on the disk.
 *
 * @throws {DiskFullError} if they do not
 */
export async function ensureSpace(
  blobs: BlobStore,
  wanted: readonly Layer[],
  freeBytes: FreeBytes,
): Promise<void> {
  const missing = await missingBytes(blobs, wanted);
  if (missing === 0) return;
  await Deno.mkdir(blobs.folder, { recursive: true });
  const free = await freeBytes(blobs.folder);
  if (missing > free) throw new DiskFullError(missing, free);
}

/** The error of a pull, or a DiskFullError with the sizes if the cause is a full disk. */
export async function explainDiskFull(
  error: unknown,
  blobs: BlobStore,
  wanted: readonly Layer[],
  freeBytes: FreeBytes,
): Promise<unknown> {
  if (!isDiskFull(error)) return error;
  const missing = await missingBytes(blobs, wanted);
  return new DiskFullError(missing, await freeBytes(blobs.folder), { cause: error });
}

/** Whether an error, or its cause, says that the disk or the user's quota is full. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" || isDiskFull(error.cause);
}

/** Bytes that have yet to be written. */
async function missingBytes(blobs: BlobStore, wanted: readonly Layer[]): Promise<number> {
  let missing = 0;
  for (const blob of wanted) {
    if (await isThere(blob, blobs)) continue;
    // Without a folder there are no records.
    const recorded = await recordedBytes(blobs.partialPath(blob.digest)).catch(() => 0);
    missing += Math.max(0, blob.size - recorded);
  }
  return missing;
}
