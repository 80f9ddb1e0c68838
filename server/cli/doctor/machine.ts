// The machine that the doctor examines, behind an interface so that tests can have others.

import type { HostAddress } from "../../network/host.ts";
import { type FreeBytes, systemFreeBytes } from "../../registry/disk_space.ts";
import { type Host, localHost } from "../setup/host.ts";

/** How long a port may take to accept a connection, in milliseconds; then it counts as closed. */
const CONNECT_MILLISECONDS = 2000;

export function localMachine(): Machine {
  return { host: localHost(), freeBytes: systemFreeBytes, isPortOpen };
}

async function isPortOpen({ hostname, port }: { hostname: string; port: number }) {
  try {
    const signal = AbortSignal.timeout(CONNECT_MILLISECONDS);
    const connection = await Deno.connect({ hostname, port, signal });
    connection.close();
    return true;
  } catch {
    return false;
  }
}

/** The questions of the doctor to a machine, besides files and the environment. */
export interface Machine {
  host: Host;
  /** Whether anything accepts connections there. */
  isPortOpen(address: HostAddress): Promise<boolean>;
  /** Bytes that can still be written to the disk of a folder. */
  freeBytes: FreeBytes;
}
