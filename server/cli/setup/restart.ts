// Starts the program again with the flags of V8 that the kernels of the CPU need, where it was started without:
// so `deno run -A mod.ts serve` is as fast as `deno task serve`. V8 takes flags only at its start. execv(3)
// puts the new program in the place of this one, with its number, terminal and files. Where that cannot
// be done, the program goes on as it is: outside of Linux, and without the permission to call libc.

import { V8_FLAGS } from "./v8_flags.ts";

const SERVING: readonly string[] = ["serve", "start"];
/** Commands that compute. Others would only start later. */
const COMPUTING: readonly string[] = [...SERVING, "run", "embed", "bench"];
const VARIABLE = "DENO_V8_FLAGS";
const EXECV = { execv: { parameters: ["buffer", "buffer"], result: "i32" } } as const;

/** What decides whether the program starts again. */
export interface Start {
  readonly command: string | undefined;
  readonly os: string;
  readonly architecture: string;
  /** Whether it is an executable, which brings its flags. */
  readonly isStandalone: boolean;
  /** The value of DENO_V8_FLAGS; undefined if it is not set. */
  readonly flags: string | undefined;
}

/** Whether the arguments are those of a server. */
export function isServing([command = ""]: readonly string[]): boolean {
  return SERVING.includes(command);
}

/** The flags to start again with; undefined if the program stays as it is. */
export function missingFlags(
  { command = "", os, architecture, isStandalone, flags }: Start,
): string | undefined {
  // Whoever sets flags, if only to none, has decided.
  if (os !== "linux" || isStandalone || flags !== undefined) return undefined;
  return COMPUTING.includes(command) ? V8_FLAGS[architecture] : undefined;
}

/** Starts the program again, and does not return, if it lacks flags and can have them. */
export function restartWithFlags(args: readonly string[]): void {
  const isAllowed = (["env", "ffi", "read"] as const).every((name) =>
    Deno.permissions.querySync({ name }).state === "granted"
  );
  if (!isAllowed) return;
  const { os, arch: architecture, standalone: isStandalone } = Deno.build;
  const flags = Deno.env.get(VARIABLE);
  const missing = missingFlags({ command: args[0], os, architecture, isStandalone, flags });
  if (missing === undefined) return;
  Deno.env.set(VARIABLE, missing);
  try {
    replaceProgram(Deno.readFileSync("/proc/self/cmdline"));
  } catch {
    // Another libc, or no /proc.
  }
  // It was not replaced. What it starts, such as processes of models, can still have the flags.
}

/** Runs the program again with these arguments, each of which ends with a zero. */
function replaceProgram(line: Uint8Array<ArrayBuffer>): void {
  const start = Deno.UnsafePointer.value(Deno.UnsafePointer.of(line));
  const ends = [...line.keys()].filter((at) => line[at] === 0);
  const starts = [0, ...ends.slice(0, -1).map((at) => at + 1)];
  const pointers = BigUint64Array.from([...starts.map((at) => start + BigInt(at)), 0n]);
  const path = new TextEncoder().encode(`${Deno.execPath()}\0`);
  Deno.dlopen("libc.so.6", EXECV).symbols.execv(path, pointers);
}
