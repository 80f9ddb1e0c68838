// Which Linux distribution this is, by os-release(5).

import type { Host } from "./host.ts";

/** The Linux distribution; empty strings where os-release does not say. */
export interface Distribution {
  /** "debian", "ubuntu", "fedora", … */
  id: string;
  /** The distributions that this one descends from, and itself. */
  family: string[];
  /** "bookworm", "noble", … */
  codename: string;
}

/** Reads os-release; undefined on a system without it. */
export async function readDistribution(host: Host): Promise<Distribution | undefined> {
  const text = await host.readText("/etc/os-release") ?? await host.readText("/usr/lib/os-release");
  if (text === undefined) return undefined;
  const field = (name: string) =>
    text.match(new RegExp(`^${name}=["']?([^"'\n]*)`, "m"))?.[1]?.trim() ?? "";
  const id = field("ID");
  const family = [id, ...field("ID_LIKE").split(/\s+/)].filter((name) => name !== "");
  return { id, family, codename: field("VERSION_CODENAME") };
}
