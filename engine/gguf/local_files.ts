// The model files of this machine. Pipes, devices and folders are refused before they are opened,
// because opening a pipe waits until somebody writes to it.

import { GgufError } from "../errors.ts";
import type { ByteSource, ByteSources } from "./byte_source.ts";

/** The files of this machine. Errors of opening: also Deno.errors.NotFound and others. */
export const localFiles: ByteSources = {
  async open(path) {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile) throw new GgufError(path, "file", "it is a folder, a pipe or a device");
    return new LocalFile(await Deno.open(path), size);
  },
  async has(path) {
    try {
      await Deno.stat(path);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  },
};

class LocalFile implements ByteSource {
  readonly #file: Deno.FsFile;
  /** Offset after the last read, so that sequential reads need no seek. */
  #position = 0;

  constructor(file: Deno.FsFile, readonly size: number) {
    this.#file = file;
  }

  read(offset: number, target: Uint8Array): number {
    if (offset !== this.#position) this.#file.seekSync(offset, Deno.SeekMode.Start);
    const count = this.#file.readSync(target) ?? 0;
    this.#position = offset + count;
    return count;
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
