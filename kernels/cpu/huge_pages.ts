// Pages of 2 MiB under a WebAssembly memory. Reading weights waits for memory, and with ordinary pages also
// for the tables that say where each 4 KiB of them lie. Linux gives large pages to whoever asks for them
// by madvise(2), which V8 does not. Where the program may not call libc, and on other systems, nothing
// changes.

import { mayUse } from "../process.ts";

/** MADV_HUGEPAGE of <linux/mman.h>. */
const HUGE_PAGE_ADVICE = 14;

const LIBC = "libc.so.6";

const ADVISE = { madvise: { parameters: ["usize", "usize", "i32"], result: "i32" } } as const;

let libc: Deno.DynamicLibrary<typeof ADVISE> | undefined;

function openLibc(): Deno.DynamicLibrary<typeof ADVISE> | undefined {
  try {
    return Deno.dlopen(LIBC, ADVISE);
  } catch {
    return undefined; // Another libc than glibc.
  }
}

/**
 * Asks for pages of 2 MiB wherever a memory is not used yet.
 *
 * @param memory whose buffer does not move when it grows, such as a shared one
 * @param most bytes that it may ever have
 * @returns whether the system took note
 */
export function useHugePages(memory: WebAssembly.Memory, most: number): boolean {
  if (!mayUse({ name: "ffi" }) || Deno.build.os !== "linux") return false;
  libc ??= openLibc();
  if (!libc) return false;
  const start = Deno.UnsafePointer.value(Deno.UnsafePointer.of(new Uint8Array(memory.buffer)));
  return libc.symbols.madvise(start, BigInt(most), HUGE_PAGE_ADVICE) === 0;
}
