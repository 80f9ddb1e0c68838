// Prints the flags that V8 needs for fast products on the CPU, for tasks to pass on as DENO_V8_FLAGS; only
// those that this platform's V8 has, since Deno ends at one that is unknown. A program that lacks them
// starts itself again (restart.ts).

/** V8's flags by architecture. */
export const V8_FLAGS: Readonly<Record<string, string>> = {
  x86_64: "--experimental-wasm-revectorize,--experimental-wasm-fp16",
};

/** A flag that V8 sets anyway, because Deno ends if the list is empty. */
const NONE = "--wasm-dynamic-tiering";

/** The flags for an architecture, as Deno.build.arch calls it, with commas between them. */
export function v8Flags(architecture: string): string {
  return V8_FLAGS[architecture] ?? NONE;
}

if (import.meta.main) {
  await Deno.stdout.write(new TextEncoder().encode(v8Flags(Deno.build.arch)));
}
