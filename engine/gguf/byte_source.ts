// The interface between reading GGUF and what holds the files. local_files.ts implements it for this
// machine, filesInMemory() for bytes that a program has; a browser has others, such as the synchronous
// access handles of its private file system.

import { GgufError } from "../errors.ts";

/** The bytes of one file, with random access. */
export interface ByteSource extends Disposable {
  /** Number of bytes. */
  readonly size: number;
  /** Where other threads can open it; undefined if only this one can read it. */
  readonly path?: string;
  /** What tells the file from one in its place or with other content; undefined if unknown. */
  readonly stamp?: string | undefined;
  /** Whether no change since the file was opened could go without another stamp. */
  readonly isSettled?: boolean;
  /**
   * Reads bytes from `offset` on into `target`. Synchronous, because a load has nothing else to do
   * meanwhile.
   *
   * @returns number of bytes read: at least one, or 0 at the end
   */
  read(offset: number, target: Uint8Array): number;
}

/** Files by their paths. */
export interface ByteSources {
  /**
   * Opens a file to read.
   *
   * @throws {GgufError} if the path is not that of a file
   */
  open(path: string): Promise<ByteSource>;
  /** Whether the path exists. */
  has(path: string): Promise<boolean>;
}

/**
 * Files that are in memory, such as a model that a program has fetched. Their bytes must stay as they
 * are while a model is loaded from them.
 *
 * @param files the content of each, by its path, which is any name: shards need theirs
 */
export function filesInMemory(files: Readonly<Record<string, Uint8Array>>): ByteSources {
  const contents = new Map(Object.entries(files));
  return {
    open(path) {
      const bytes = contents.get(path);
      return bytes
        ? Promise.resolve(new BytesInMemory(bytes))
        : Promise.reject(new GgufError(path, "file", "no file in memory has that name"));
    },
    has: (path) => Promise.resolve(contents.has(path)),
  };
}

class BytesInMemory implements ByteSource {
  readonly size: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.size = bytes.length;
    this.#bytes = bytes;
  }

  read(offset: number, target: Uint8Array): number {
    const bytes = this.#bytes.subarray(offset, offset + target.length);
    target.set(bytes);
    return bytes.length;
  }

  [Symbol.dispose](): void {}
}

/** Reads until `target` is full or the source ends. Returns the number of bytes read. */
export function fill(source: ByteSource, offset: number, target: Uint8Array): number {
  let filled = 0;
  while (filled < target.length) {
    const count = source.read(offset + filled, target.subarray(filled));
    if (count === 0) break;
    filled += count;
  }
  return filled;
}
