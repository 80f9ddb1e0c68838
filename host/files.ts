// Files and their paths, and processes, as Deno has them. Node and Bun read files as well; elsewhere a
// program has none, and gives models as bytes or by address.

import { deno, HostError, nodeModule, runtime } from "./runtime.ts";

/** An open file. */
export type FsFile = Deno.FsFile;
/** What the system tells of a file. */
export type FileInfo = Deno.FileInfo;
/** An entry of a folder. */
export type DirEntry = Deno.DirEntry;
/** A process that this one has started. */
export type ChildProcess = Deno.ChildProcess;
/** The name of an operating system. */
export type OperatingSystem = typeof Deno.build.os;

/** What reads and writes files. */
export type FileSystem = Pick<
  typeof Deno,
  | "copyFile"
  | "create"
  | "link"
  | "lstat"
  | "makeTempDir"
  | "mkdir"
  | "open"
  | "readDir"
  | "readFile"
  | "readTextFile"
  | "realPath"
  | "remove"
  | "rename"
  | "stat"
  | "symlink"
  | "utime"
  | "writeFile"
  | "writeTextFile"
>;

/** What starts processes, and what a process knows of itself. */
export type Processes = Pick<
  typeof Deno,
  "addSignalListener" | "build" | "Command" | "execPath" | "exit" | "stdin" | "stdout"
>;

/** The files of this machine. Errors: HostError outside of Deno. */
export function fileSystem(): FileSystem {
  return deno("use files");
}

/** The processes of this machine. Errors: HostError outside of Deno. */
export function processes(): Processes {
  return deno("use processes");
}

/** Lets messages and timers run. A timer of 0 ms would take a millisecond or more. */
export function nextTask(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(undefined);
  return promise;
}

/** Nothing, of which a digest is made. */
const NOTHING = new Uint8Array(0);

/**
 * Lets all that is due run, and what has come to sockets be read. Deno looks at those only while it waits, or
 * after 61 tasks, between which a thread that computes may need seconds; so it waits here until another
 * thread has made a digest of nothing, which takes it some 50 µs. A timer would take 2 ms.
 */
export async function nextTurn(): Promise<void> {
  if (runtime()) await crypto.subtle.digest("SHA-1", NOTHING);
  else if (!("setImmediate" in globalThis)) await nextTask();
  else await new Promise((resolve) => setImmediate(resolve));
}

/** The version of Deno; undefined elsewhere. */
export function denoVersion(): string | undefined {
  return runtime()?.version.deno;
}

/** The operating system; undefined outside of Deno. */
export function operatingSystem(): OperatingSystem | undefined {
  return runtime()?.build.os;
}

/** The codes of a system's errors, by which Node tells them. */
const CODES = {
  NotADirectory: ["ENOTDIR"],
  NotFound: ["ENOENT"],
  PermissionDenied: ["EACCES", "EPERM"],
  WouldBlock: ["EAGAIN"],
};

/** Whether an error is one of those that the system has for files and processes. */
export function isSystemError(
  error: unknown,
  ...names: (keyof typeof CODES)[]
): boolean {
  const errors = runtime()?.errors;
  if (errors) return names.some((name) => error instanceof errors[name]);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return names.some((name) => CODES[name].includes(code));
}

/** Whether an error says that the process, or the whole system, has as many open files as it may. */
export function isOutOfFiles(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "EMFILE" || error.code === "ENFILE");
}

/** Where the offset of a seek counts from: the beginning of the file. */
export const SEEK_START = 0 as Deno.SeekMode.Start;

/** The parts of a path as one. */
export function join(...parts: string[]): string {
  return paths().join(...parts);
}

/** The path that the last part names, seen from those before it and from the working folder. */
export function resolve(...parts: string[]): string {
  return paths().resolve(...parts);
}

/** The folder of a path. */
export function dirname(path: string): string {
  return paths().dirname(path);
}

/** The last name of a path, without an ending if it has that. */
export function basename(path: string, ending?: string): string {
  // Models that are given as bytes have names like those of files.
  return nodeModule("path")?.basename(path, ending) ?? path.slice(path.lastIndexOf("/") + 1);
}

/** The path of a `file:` URL. */
export function pathOf(url: URL): string {
  const module = nodeModule("url");
  if (!module) throw new HostError(`Cannot read "${url}" as a file: a browser has none`);
  return module.fileURLToPath(url);
}

function paths(): typeof import("node:path") {
  const module = nodeModule("path");
  if (!module) throw new HostError("Cannot use paths of files: a browser has none");
  return module;
}

/** A value as bytes, and back, for processes that talk to each other. */
export function serializer(): Pick<typeof import("node:v8"), "deserialize" | "serialize"> {
  const module = nodeModule("v8");
  if (!module) throw new HostError("Cannot send values to a process: a browser has none");
  return module;
}
