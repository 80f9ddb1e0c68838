// Access to environment variables and small system files, to how many files can be opened, and to large
// pages. If Deno would ask the user for permission, or outside of Deno, they count as missing, and files
// as free.

import { isOutOfFiles } from "./files.ts";
import { deno } from "./runtime.ts";

/** A file that can always be opened, on systems that bound open files. */
const NULL_FILE = "/dev/null";

/** An environment variable without the spaces around it; empty if it is not set. */
export function readVariable(name: string): string {
  return mayUse({ name: "env", variable: name }) ? (Deno.env.get(name) ?? "").trim() : "";
}

/** Sets an environment variable of this process, where it may. */
export function setVariable(name: string, value: string): void {
  if (mayUse({ name: "env", variable: name })) Deno.env.set(name, value);
}

/** The text of a file; undefined if there is none. */
export function readText(path: string): string | undefined {
  return attempt(path, () => Deno.readTextFileSync(path));
}

/** Names in a folder; undefined if there is none. */
export function namesIn(path: string): string[] | undefined {
  return attempt(path, () => [...Deno.readDirSync(path)].map(({ name }) => name));
}

/** Time at which a file was changed, in milliseconds since 1970; 0 if it is not known. */
export function changedAt(path: string): number {
  return attempt(path, () => Deno.statSync(path).mtime?.getTime()) ?? 0;
}

/** The version of the operating system; empty where the program may not ask. */
export function systemRelease(): string {
  return mayUse({ name: "sys", kind: "osRelease" }) ? Deno.osRelease() : "";
}

/** Bytes of memory that programs can have without swapping. Errors: HostError outside of Deno. */
export function freeMemory(): number {
  return deno("measure memory").systemMemoryInfo().available;
}

/**
 * How many files can be opened now, up to a number. That number where it is not known: on Windows,
 * and without the permission to try.
 */
export function countFreeFiles(most: number): number {
  const open = openFiles();
  const limit = Number(/^Max open files +(\d+)/m.exec(readText("/proc/self/limits") ?? "")?.[1]);
  if (open !== undefined && limit > 0) return Math.min(most, Math.max(0, limit - open));
  return openAll(most);
}

/** Files that this process has open, as Linux tells; undefined elsewhere. */
function openFiles(): number | undefined {
  const path = "/proc/self/fd";
  // Since Linux 6.2 their number is the size of the folder, which costs nothing where there are thousands.
  const size = attempt(path, () => Deno.statSync(path).size) ?? 0;
  if (size > 0) return size;
  const names = namesIn(path);
  return names && names.length - 1; // One is that of the folder itself, which is closed again.
}

/** How many files can be opened, by opening them: another thread gets none meanwhile. */
function openAll(most: number): number {
  if (!mayRead(NULL_FILE) || Deno.build.os === "windows") return most;
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < most) files.push(Deno.openSync(NULL_FILE));
  } catch (error) {
    if (!isOutOfFiles(error)) return most;
  } finally {
    for (const file of files) file.close();
  }
  return files.length;
}

/** Advice about the size of pages: MADV_HUGEPAGE and MADV_NOHUGEPAGE of <linux/mman.h>. */
const PAGE_ADVICE = { huge: 14, ordinary: 15 } as const;
const ADVISE = { madvise: { parameters: ["usize", "usize", "i32"], result: "i32" } } as const;
let libc: Deno.DynamicLibrary<typeof ADVISE> | undefined;

/** Pages of 2 MiB, or of the size that a system has anyway. */
export type PageSize = keyof typeof PAGE_ADVICE;

/**
 * Asks for pages of a size wherever a memory is not used yet. Reading weights waits for memory, and with
 * ordinary pages also for the tables that say where each 4 KiB of them lie. Linux gives large pages to
 * whoever asks for them by madvise(2), which V8 does not, or to all who do not ask for ordinary ones.
 *
 * @param memory whose buffer does not move when it grows, such as a shared one
 * @param most bytes that it may ever have
 * @returns whether the system took note
 */
export function advisePages(memory: WebAssembly.Memory, most: number, size: PageSize): boolean {
  if (!mayUse({ name: "ffi" }) || Deno.build.os !== "linux") return false;
  try {
    libc ??= Deno.dlopen("libc.so.6", ADVISE);
  } catch {
    return false; // Another libc than glibc.
  }
  const start = Deno.UnsafePointer.value(Deno.UnsafePointer.of(new Uint8Array(memory.buffer)));
  return libc.symbols.madvise(start, BigInt(most), PAGE_ADVICE[size]) === 0;
}

/** Whether the program has permission to read the path. */
export function mayRead(path: string): boolean {
  return mayUse({ name: "read", path });
}

function attempt<T>(path: string, read: () => T): T | undefined {
  if (!mayRead(path)) return undefined;
  try {
    return read();
  } catch {
    return undefined;
  }
}

function mayUse(permission: Deno.PermissionDescriptor): boolean {
  return globalThis.Deno?.permissions.querySync(permission).state === "granted";
}
