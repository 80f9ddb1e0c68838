// The lock that all processes share for a store. Adding blobs and manifests takes a shared lock,
// removing blobs an exclusive one. The system releases it when a process dies. With the exclusive
// lock, nobody can be about to name a blob that notes.ts lists.

import { dirname, fileSystem, type FsFile } from "../../host/mod.ts";
import { writing } from "./file_system.ts";

/** A lock on a file whose content does not matter. */
export class StoreLock {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
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

  async #open(): Promise<FsFile> {
    const folder = dirname(this.#path);
    return await writing(async () => {
      await fileSystem().mkdir(folder, { recursive: true });
      return await fileSystem().open(this.#path, { read: true, write: true, create: true });
    });
  }
}
