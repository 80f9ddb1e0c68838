// Temporary files of a piece of work: blobs under their original names, and paths for new files on
// the store's own file system.

import { dirname, fileSystem, isSystemError, join } from "../../host/mod.ts";
import { type BlobStore, writing } from "../store/mod.ts";

/**
 * Ways to make a file available under another path, the cheapest first. Not every system supports
 * all.
 */
function ways() {
  const { symlink, link, copyFile } = fileSystem();
  return [symlink, link, copyFile];
}

/**
 * Runs work on a folder in which blobs have names.
 *
 * @param files relative paths, with digests of existing blobs
 */
export async function withNamedFiles<T>(
  blobs: BlobStore,
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await fileSystem().makeTempDir({ prefix: "quern-create-" });
  try {
    for (const [name, digest] of Object.entries(files)) {
      const path = join(folder, name);
      await fileSystem().mkdir(dirname(path), { recursive: true });
      await place(blobs.pathOf(digest), path);
    }
    return await work(folder);
  } finally {
    await fileSystem().remove(folder, { recursive: true });
  }
}

/**
 * Runs work on the path of a file that does not exist yet, and is removed afterwards unless it was
 * moved. The caller has to protect the store. Files that a crash leaves are recognized by their
 * name.
 *
 * @throws {StoreError} if the folder of the blobs cannot be written; the errors of the work
 */
export async function withTemporaryFile<T>(
  blobs: BlobStore,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const path = blobs.temporaryPath();
  return await writing(async () => {
    await fileSystem().mkdir(blobs.folder, { recursive: true });
    try {
      return await work(path);
    } finally {
      await fileSystem().remove(path).catch((error) => {
        if (!isSystemError(error, "NotFound")) throw error;
      });
    }
  });
}

async function place(from: string, to: string): Promise<void> {
  let failure: unknown;
  for (const way of ways()) {
    try {
      return await way(from, to);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
