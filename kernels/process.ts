// What kernels ask of the process and its machine: variables and small files of the system. Where
// Deno would have to ask the user for it, or there is no Deno, it is as if there were none.

/** A variable of the environment without the spaces around it; empty where it is not set. */
export function readVariable(name: string): string {
  return mayUse({ name: "env", variable: name }) ? (Deno.env.get(name) ?? "").trim() : "";
}

/** The text of a file; undefined where there is none. */
export function readText(path: string): string | undefined {
  return attempt(path, () => Deno.readTextFileSync(path));
}

/** Names in a folder; undefined where there is none. */
export function namesIn(path: string): string[] | undefined {
  return attempt(path, () => [...Deno.readDirSync(path)].map(({ name }) => name));
}

/** Whether the program may read there. */
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
