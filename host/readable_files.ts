// Reading files, which Deno, Node and Bun can, with the names that Deno has for it.

import { HostError, nodeModule, runtime } from "./runtime.ts";

type FileInfo = Deno.FileInfo;

/** A file that is open to be read. */
export type ReadableFile = Pick<Deno.FsFile, "close" | "readSync" | "seekSync" | "statSync">;

/** What reads files. */
export interface FileReader {
  /** What the system tells of a file, wherever links lead. */
  stat(path: string): Promise<FileInfo>;
  /** Opens a file to read. */
  open(path: string): Promise<ReadableFile>;
  /** Opens a file to read, blocking. */
  openSync(path: string): ReadableFile;
}

/** Bytes of a file, for whoever opens it by its path. */
export interface FileBytes {
  readonly path: string;
  /** What {@linkcode stampOf} gives of the file that is meant. */
  readonly stamp: string;
  /** Of the first byte. */
  readonly offset: number;
}

/** What tells a file from one that takes its path later, and from itself after most changes. */
export function stampOf({ dev, ino, size, mtime, ctime }: FileInfo): string {
  return [dev, ino, size, ...[mtime, ctime].map((time) => time?.getTime() ?? 0)].join(":");
}

/** The files of this machine, to read. Errors: HostError in browsers. */
export function readableFiles(): FileReader {
  const files = runtime() ?? nodeFiles();
  if (!files) throw new HostError("Cannot use files by their paths: a browser has none");
  return files;
}

/** What reads files in Node and Bun; undefined in browsers. */
function nodeFiles(): FileReader | undefined {
  const fs = nodeModule("fs");
  return fs && {
    stat: async (path) => infoOf(await fs.promises.stat(path)),
    open: (path) => Promise.resolve(new NodeFile(fs, fs.openSync(path, "r"))),
    openSync: (path) => new NodeFile(fs, fs.openSync(path, "r")),
  };
}

function infoOf(stats: import("node:fs").Stats): FileInfo {
  const { birthtime, atime, mtime, ctime } = stats;
  return {
    ...stats,
    birthtime,
    atime,
    mtime,
    ctime,
    isFile: stats.isFile(),
    isDirectory: stats.isDirectory(),
    isSymlink: false,
    isBlockDevice: stats.isBlockDevice(),
    isCharDevice: stats.isCharacterDevice(),
    isFifo: stats.isFIFO(),
    isSocket: stats.isSocket(),
  };
}

/** An open file, by its descriptor. */
class NodeFile implements ReadableFile {
  readonly #fs: typeof import("node:fs");
  readonly #descriptor: number;
  #position = 0;

  constructor(fs: typeof import("node:fs"), descriptor: number) {
    this.#fs = fs;
    this.#descriptor = descriptor;
  }

  statSync(): FileInfo {
    return infoOf(this.#fs.fstatSync(this.#descriptor));
  }

  /** Goes to an offset from the beginning, the only one that is asked for. */
  seekSync(offset: number | bigint): number {
    return this.#position = Number(offset);
  }

  readSync(target: Uint8Array): number | null {
    const count = this.#fs.readSync(this.#descriptor, target, 0, target.length, this.#position);
    this.#position += count;
    return count === 0 ? null : count;
  }

  close(): void {
    this.#fs.closeSync(this.#descriptor);
  }
}
