// Files for the length of one piece of work: blobs under the names that they had where they came
// from, and room for new ones on the store's own file system.

import { dirname, join } from "node:path";
import { type BlobStore, writingTo } from "../store/mod.ts";

/** Ways to have a file in another place, the cheapest first; not every system has all of them. */
const WAYS = [Deno.symlink, Deno.link, Deno.copyFile];

/**
 * Runs work on a folder in which blobs have names.
 *
 * @param files relative names, with digests of blobs that are there
 */
export async function withNamedFiles<T>(
  blobs: BlobStore,
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "quern-create-" });
  try {
    for (const [name, digest] of Object.entries(files)) {
      const path = join(folder, name);
      await Deno.mkdir(dirname(path), { recursive: true });
      await place(blobs.pathOf(digest), path);
    }
    return await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Runs work on the path of a file that is not there yet, and is gone afterwards unless moved. Only for
 * who protects the store: what a crash leaves is known by its name.
 *
 * @throws {StoreError} if the folder of the blobs cannot be written; and what the work throws
 */
export async function withTemporaryFile<T>(
  blobs: BlobStore,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const path = blobs.temporaryPath();
  return await writingTo(blobs.folder, async () => {
    await Deno.mkdir(blobs.folder, { recursive: true });
    try {
      return await work(path);
    } finally {
      await Deno.remove(path).catch((error) => {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      });
    }
  });
}

async function place(from: string, to: string): Promise<void> {
  let failure: unknown;
  for (const way of WAYS) {
    try {
      return await way(from, to);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
