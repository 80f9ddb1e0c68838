// The model files of this machine. Pipes, devices and folders are refused before they are opened,
// because opening a pipe waits until somebody writes to it.

import {
  type FileInfo,
  isSystemError,
  type ReadableFile,
  readableFiles,
  SEEK_START,
  stampOf,
} from "../../host/mod.ts";
import { GgufError } from "../errors.ts";
import type { ByteSource, ByteSources } from "./byte_source.ts";

/** The files of this machine. Errors of opening: also those of the system. */
export const localFiles: ByteSources = {
  async open(path) {
    if (!(await readableFiles().stat(path)).isFile) {
      throw new GgufError(path, "file", "it is a folder, a pipe or a device");
    }
    const file = await readableFiles().open(path);
    return new LocalFile(path, file, file.statSync());
  },
  async has(path) {
    try {
      await readableFiles().stat(path);
      return true;
    } catch (error) {
      if (isSystemError(error, "NotFound")) return false;
      throw error;
    }
  },
};

/** Milliseconds after which a change is told by other times, which the system gives in seconds. */
const SETTLED = 2000;

class LocalFile implements ByteSource {
  readonly size: number;
  readonly stamp: string;
  readonly isSettled: boolean;
  readonly #file: ReadableFile;
  /** Offset after the last read, so that sequential reads need no seek. */
  #position = 0;

  constructor(readonly path: string, file: ReadableFile, info: FileInfo) {
    this.#file = file;
    this.size = info.size;
    this.stamp = stampOf(info);
    const times = [info.mtime, info.ctime].map((time) => time?.getTime() ?? 0);
    this.isSettled = Math.max(...times) < Date.now() - SETTLED;
  }

  read(offset: number, target: Uint8Array): number {
    if (offset !== this.#position) this.#file.seekSync(offset, SEEK_START);
    const count = this.#file.readSync(target) ?? 0;
    this.#position = offset + count;
    return count;
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
