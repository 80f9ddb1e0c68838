// Deno, and the modules of Node that Deno has as well: the rest of the folder asks here for what the
// program runs in. They are found when they are first used, never at import.

/** The program runs where there is no such thing, such as files in a browser. */
export class HostError extends Error {
  /** Name of the class. */
  override name = "HostError";
}

/** Deno; undefined elsewhere. */
export function runtime(): typeof Deno | undefined {
  return globalThis.Deno;
}

/**
 * Deno, for what only Deno has.
 *
 * @param attempt for the error, such as "read files"
 * @throws {HostError} elsewhere
 */
export function deno(attempt: string): typeof Deno {
  const found = runtime();
  if (!found) throw new HostError(`Cannot ${attempt}: the program does not run in Deno`);
  return found;
}

/** Whether the program runs in Node, whose threads and files are not those of the web or of Deno. */
export function isNode(): boolean {
  return !runtime() && !("Bun" in globalThis) && nodeModule("worker_threads") !== undefined;
}

/** The modules of Node of which the program makes use. */
interface NodeModules {
  buffer: typeof import("node:buffer");
  crypto: typeof import("node:crypto");
  fs: typeof import("node:fs");
  path: typeof import("node:path");
  process: typeof import("node:process");
  url: typeof import("node:url");
  v8: typeof import("node:v8");
  worker_threads: typeof import("node:worker_threads");
  zlib: typeof import("node:zlib");
}

/** Modules by their names; null for those that are not there. */
const found: { [Name in keyof NodeModules]?: NodeModules[Name] | null } = {};

/** A module of Node, which Deno has as well; undefined in browsers. */
export function nodeModule<Name extends keyof NodeModules>(
  name: Name,
): NodeModules[Name] | undefined {
  return (found[name] ??= findModule(name)) ?? undefined;
}

function findModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | null {
  // A static import of such a module would be an error in a browser, before anything runs.
  const { process } = globalThis as unknown as {
    process?: { getBuiltinModule?: (name: string) => NodeModules[Name] | undefined };
  };
  return process?.getBuiltinModule?.(`node:${name}`) ?? null;
}
