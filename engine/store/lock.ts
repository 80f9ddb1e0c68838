// The lock that all processes share for a store. Adding blobs and manifests takes a shared lock,
// removing blobs an exclusive one. The system releases it when a process dies. A file beside it
// lists blobs that were added, or were about to lose a manifest, since blobs were last removed.
// With the exclusive lock, nobody can be about to name a listed blob.

import { dirname } from "node:path";
import { readIfThere, removeIfThere, writing } from "./file_system.ts";

/** A lock on a file whose content does not matter. */
export class StoreLock {
  readonly #path: string;
  readonly #noted: string;

  constructor(path: string) {
    this.#path = path;
    this.#noted = `${path}-noted`;
  }

  /** Notes a blob before it is added. Requires the shared lock. */
  async noteAdded(digest: string): Promise<void> {
    await this.#note([digest]);
  }

  /** Notes blobs before they lose a manifest. Requires the shared lock. */
  async noteLost(digests: readonly string[]): Promise<void> {
    try {
      await this.#note(digests);
    } catch {
      // Removing a model has to work on a full disk, too. If the program crashes now, its blobs are
      // removed after the grace period.
    }
  }

  async #note(digests: readonly string[]): Promise<void> {
    if (digests.length === 0) return;
    const lines = digests.map((digest) => `${digest}\n`).join("");
    await Deno.writeTextFile(this.#noted, lines, { append: true });
  }

  /** The noted blobs. Requires the exclusive lock. */
  async noted(): Promise<Set<string>> {
    const list = await readIfThere(this.#noted);
    return new Set(new TextDecoder().decode(list).split("\n").filter(Boolean));
  }

  /** Empties the list, after all noted blobs were examined. Requires the exclusive lock. */
  async forgetNoted(): Promise<void> {
    await removeIfThere(this.#noted);
  }

  /** Runs work that adds blobs or manifests; meanwhile no blob is removed. Calls may be nested. */
  async share<T>(work: () => Promise<T>): Promise<T> {
    using file = await this.#open();
    await file.lock(false);
    return await work();
  }

  /** Runs work that removes blobs. Gives undefined without waiting if somebody adds blobs. */
  async tryAlone<T>(work: () => Promise<T>): Promise<T | undefined> {
    using file = await this.#open();
    return await file.tryLock(true) ? await work() : undefined;
  }

  async #open(): Promise<Deno.FsFile> {
    const folder = dirname(this.#path);
    return await writing(async () => {
      await Deno.mkdir(folder, { recursive: true });
      return await Deno.open(this.#path, { read: true, write: true, create: true });
    });
  }
}
