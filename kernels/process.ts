// Access to environment variables and small system files. If Deno would ask the user for
// permission, or outside of Deno, they count as missing.

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
