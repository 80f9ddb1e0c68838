// The lock that the processes on one store share: whoever adds blobs and manifests holds it together
// with others, whoever removes blobs has to have it alone. The system drops it when a process dies.
// Beside it lies a list of the blobs that were added under it, or were about to lose a name, since blobs
// were last removed: of those, whoever has the lock alone knows that nobody is about to name them.

import { dirname } from "node:path";
import { readIfThere, removeIfThere, writingTo } from "./file_system.ts";

/** A lock on a file, which nobody reads. */
export class StoreLock {
  readonly #path: string;
  readonly #noted: string;

  constructor(path: string) {
    this.#path = path;
    this.#noted = `${path}-noted`;
  }

  /** Notes a blob before it is added. Only for who shares the lock. */
  async noteAdded(digest: string): Promise<void> {
    await this.#note([digest]);
  }

  /** Notes blobs before they lose a name. Only for who shares the lock. */
  async noteLost(digests: readonly string[]): Promise<void> {
    try {
      await this.#note(digests);
    } catch {
      // A model has to go from a full disk too; should a crash come now, its blobs go an hour later.
    }
  }

  async #note(digests: readonly string[]): Promise<void> {
    if (digests.length === 0) return;
    const lines = digests.map((digest) => `${digest}\n`).join("");
    await Deno.writeTextFile(this.#noted, lines, { append: true });
  }

  /** The blobs that were noted. Only for who has the lock alone. */
  async noted(): Promise<Set<string>> {
    const list = await readIfThere(this.#noted);
    return new Set(new TextDecoder().decode(list).split("\n").filter(Boolean));
  }

  /** Begins a new list. Only for who has the lock alone, and has looked at all that was noted. */
  async forgetNoted(): Promise<void> {
    await removeIfThere(this.#noted);
  }

  /** Runs what adds blobs or manifests: meanwhile no blob is removed. It may be nested. */
  async share<T>(work: () => Promise<T>): Promise<T> {
    using file = await this.#open();
    await file.lock(false);
    return await work();
  }

  /** Runs what removes blobs, if nobody adds any; else gives undefined without waiting. */
  async tryAlone<T>(work: () => Promise<T>): Promise<T | undefined> {
    using file = await this.#open();
    return await file.tryLock(true) ? await work() : undefined;
  }

  async #open(): Promise<Deno.FsFile> {
    const folder = dirname(this.#path);
    return await writingTo(folder, async () => {
      await Deno.mkdir(folder, { recursive: true });
      return await Deno.open(this.#path, { read: true, write: true, create: true });
    });
  }
}
