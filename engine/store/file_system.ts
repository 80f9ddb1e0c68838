// File system functions of the store: files are written completely or not at all, even if the
// program crashes, and folders may be missing.

import {
  type DirEntry,
  type FileInfo,
  fileSystem,
  type FsFile,
  isSystemError,
  join,
} from "../../host/mod.ts";
import { StoreError } from "./errors.ts";

/** Error codes for folders that are read-only. */
const READ_ONLY = ["EACCES", "EPERM", "EROFS"];

/** Most bytes of a path and of each name in it, on the systems that have the least. */
const [MAX_PATH, MAX_NAME] = [4096, 255];

/** Whether files can have this path: no name in it is too long for them, and none has a NUL. */
export function isFilePath(path: string): boolean {
  if (path.length > MAX_PATH || path.includes("\0")) return false;
  return path.split(/[\\/]/).every((name) => new TextEncoder().encode(name).length <= MAX_NAME);
}

/** Makes renames and removals in a folder durable, if the system supports it. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    using handle = await fileSystem().open(folder);
    await handle.sync();
  } catch {
    // Not every system can open folders. There, nothing more can be done.
  }
}

/** The entries of a folder; empty if it cannot be read. */
export async function entriesOf(folder: string): Promise<DirEntry[]> {
  try {
    return await Array.fromAsync(fileSystem().readDir(folder));
  } catch {
    return [];
  }
}

/** Whether an entry of a folder is a file, or a link to one. */
export async function isFile(folder: string, entry: DirEntry): Promise<boolean> {
  if (!entry.isSymlink) return entry.isFile;
  const facts = await fileSystem().stat(join(folder, entry.name)).catch(() => undefined);
  return facts?.isFile ?? false;
}

/** Facts of a file; undefined if it does not exist. */
export async function statIfThere(path: string): Promise<FileInfo | undefined> {
  return await ifThere(fileSystem().stat(path));
}

/** Facts of a file, or of a link itself; undefined if there is neither. */
export async function lstatIfThere(path: string): Promise<FileInfo | undefined> {
  return await ifThere(fileSystem().lstat(path));
}

/**
 * Time at which a file came to its place, in milliseconds since 1970. Programs that restore files
 * set the time of their last change to an old one, but nobody can set the time at which the file
 * itself, with its name and rights, last changed.
 */
export function arrivalOf({ mtime, ctime, birthtime }: FileInfo): number {
  return Math.max(...[mtime, ctime, birthtime].map((time) => time?.getTime() ?? 0));
}

/** The number of a file's inode; 0 for no file, and where files have none. */
export function inodeOf(facts: FileInfo | undefined): number {
  return facts?.ino ?? 0;
}

/**
 * What tells a file from one in its place, or from itself with other content. Nobody can set the time
 * of its last change as a file (ctime), of which the runtime tells whole seconds.
 */
export function stampOf({ dev, ino, size, mtime, ctime }: FileInfo): string {
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(":");
}

async function ifThere<T>(facts: Promise<T>): Promise<T | undefined> {
  try {
    return await facts;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/**
 * Content of a file; undefined if it does not exist, or is something else, such as a pipe, which
 * could block.
 */
export async function readIfThere(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (!(await statIfThere(path))?.isFile) return undefined;
  try {
    return await fileSystem().readFile(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Removes a file or an empty folder. Gives whether it existed. */
export async function removeIfThere(path: string): Promise<boolean> {
  try {
    await fileSystem().remove(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

export async function writeAll(file: FsFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
}

/**
 * Runs work that writes to the folder of the models. Errors: StoreError if the disk is full or the
 * folder is read-only; where the folder is, is in its cause.
 */
export async function writing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (hasCode(error, "ENOSPC") || hasCode(error, "EDQUOT")) {
      throw new StoreError(
        "Cannot write to the folder of the models: the disk is full: " +
          "make room, for example by removing a model",
        { cause: error },
      );
    }
    if (
      isSystemError(error, "PermissionDenied") ||
      READ_ONLY.some((code) => hasCode(error, code))
    ) {
      throw new StoreError(
        "Cannot write to the folder of the models: this user may only read it: " +
          "give it the right to write, or set OLLAMA_MODELS to a folder of its own",
        { cause: error },
      );
    }
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return isSystemError(error, "NotFound", "NotADirectory");
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
