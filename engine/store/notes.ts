// The list of blobs about which this program knows something that the files do not tell: that they
// were added and no manifest names them yet, or that they are about to lose one. So the next start
// removes what a crash has left, at once and nothing else. A line is about a file, not about a name:
// it has the number of the blob's inode, and that of the folder of manifests as it was seen, so that
// it says nothing of files that were restored, nor while a disk is not mounted.

import { fileSystem } from "../../host/mod.ts";
import { inodeOf, readIfThere, removeIfThere, statIfThere } from "./file_system.ts";
import type { ManifestFolder } from "./manifest_folder.ts";

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

  /** How long the list is, by which `named` knows what was noted before a manifest was written. */
  async length(): Promise<number> {
    return (await statIfThere(this.#path))?.size ?? 0;
  }

  /**
   * Notes that a manifest names blobs. What was noted of them since the list had that length stays:
   * somebody may have removed the manifest again.
   */
  async named(digests: readonly string[], length: number): Promise<void> {
    const root = await this.#manifests.identity();
    const lines = digests.map((digest) => `named ${digest} ${length} ${root}\n`);
    // Where this cannot be written, the manifest itself tells.
    await this.#append(lines).catch(() => {});
  }

  async #note(
    event: "added" | "lost",
    blobs: readonly (readonly [digest: string, path: string])[],
  ): Promise<void> {
    const root = await this.#manifests.identity();
    const lines: string[] = [];
    for (const [digest, path] of blobs) {
      lines.push(`${event} ${digest} ${inodeOf(await statIfThere(path))} ${root}\n`);
    }
    await this.#append(lines);
  }

  async #append(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    await fileSystem().writeTextFile(this.#path, lines.join(""), { append: true });
  }

  /**
   * The blobs that were added and never named, or lost a manifest, as far as the folder of manifests
   * is the one of that time: the inodes of their files, by digest. Requires the exclusive lock.
   */
  async abandoned(): Promise<Map<string, number>> {
    const root = await this.#manifests.identity();
    const abandoned = new Map<string, { inode: number; at: number }>();
    const text = new TextDecoder().decode(await readIfThere(this.#path));
    let at = 0;
    for (const line of text.split("\n")) {
      const [event, digest = "", number, seen] = line.split(" ");
      // Where there was no such folder, none of its manifests was out of sight.
      const isSeen = seen === "0" || Number(seen) === root;
      const isNamed = event === "named" && (abandoned.get(digest)?.at ?? 0) < Number(number);
      if (event !== "named" || isNamed) abandoned.delete(digest);
      if (event !== "named" && isSeen) abandoned.set(digest, { inode: Number(number), at });
      at += line.length + 1;
    }
    return new Map([...abandoned].map(([digest, { inode }]) => [digest, inode]));
  }

  /** Empties the list, after all noted blobs were examined. Requires the exclusive lock. */
  async forget(): Promise<void> {
    await removeIfThere(this.#path);
  }
}
