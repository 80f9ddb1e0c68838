// The lock that the processes on one store share: whoever adds blobs and manifests holds it together
// with others, whoever removes blobs has to have it alone. The system drops it when a process dies.

import { dirname } from "node:path";
import { writingTo } from "./file_system.ts";

/** A lock on a file, which nobody reads. */
export class StoreLock {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
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
