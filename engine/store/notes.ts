// The list of blobs about which this program knows something that the files do not tell: that they
// were added and no manifest names them yet, or that they are about to lose one. So the next start
// removes what a crash has left, at once and nothing else. A line is about a file, not about a name:
// it has the number of the blob's inode, and that of the folder of manifests as it was seen, so that
// it says nothing of files that were restored, nor while a disk is not mounted.

import { fileSystem } from "../../host/mod.ts";
import { inodeOf, readIfThere, removeIfThere, statIfThere } from "./file_system.ts";
import type { ManifestFolder } from "./manifest_folder.ts";

/** What happened to a blob: it was added, lost a manifest, or was named by one. */
type Event = "added" | "lost" | "named";

/** The list, a file of lines that are only appended. All but reading it requires the shared lock. */
export class BlobNotes {
  readonly #path: string;
  readonly #manifests: ManifestFolder;

  constructor(path: string, manifests: ManifestFolder) {
    this.#path = path;
    this.#manifests = manifests;
  }

  /**
   * Notes a blob before it is added.
   *
   * @param path of the file that will be the blob
   */
  async added(digest: string, path: string): Promise<void> {
    await this.#note("added", [[digest, path]]);
  }

  /** Notes blobs, by digest and path, before they lose a manifest. */
  async lost(blobs: readonly (readonly [digest: string, path: string])[]): Promise<void> {
    // Removing a model has to work on a full disk, too. If the program crashes now, its blobs are
    // removed after the grace period.
    await this.#note("lost", blobs).catch(() => {});
  }

  /** Notes that a manifest names blobs. */
  async named(digests: readonly string[]): Promise<void> {
    // Where this cannot be written, the manifest itself tells.
    await this.#note("named", digests.map((digest) => [digest, undefined])).catch(() => {});
  }

  async #note(
    event: Event,
    blobs: readonly (readonly [digest: string, path: string | undefined])[],
  ): Promise<void> {
    if (blobs.length === 0) return;
    const root = await this.#manifests.identity();
    let lines = "";
    for (const [digest, path] of blobs) {
      const inode = inodeOf(path === undefined ? path : await statIfThere(path));
      lines += `${event} ${digest} ${inode} ${root}\n`;
    }
    await fileSystem().writeTextFile(this.#path, lines, { append: true });
  }

  /**
   * The blobs that were added and never named, or lost a manifest, as far as the folder of manifests
   * is the one of that time: the inodes of their files, by digest. Requires the exclusive lock.
   */
  async abandoned(): Promise<Map<string, number>> {
    const root = await this.#manifests.identity();
    const abandoned = new Map<string, number>();
    const text = new TextDecoder().decode(await readIfThere(this.#path));
    for (const line of text.split("\n")) {
      const [event, digest = "", inode, seen] = line.split(" ");
      abandoned.delete(digest);
      // Where there was no such folder, none of its manifests was out of sight.
      const isSeen = seen === "0" || Number(seen) === root;
      if ((event === "added" || event === "lost") && isSeen) abandoned.set(digest, Number(inode));
    }
    return abandoned;
  }

  /** Empties the list, after all noted blobs were examined. Requires the exclusive lock. */
  async forget(): Promise<void> {
    await removeIfThere(this.#path);
  }
}
