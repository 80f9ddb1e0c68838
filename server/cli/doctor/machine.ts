// The machine that the doctor looks at, outside of tests: this one.

import type { HostAddress } from "../../network/host.ts";
import { type FreeBytes, systemFreeBytes } from "../../registry/disk_space.ts";
import { type Host, localHost } from "../setup/host.ts";

/** A port that lets a connection wait for so long is as good as closed. */
const CONNECT_MILLISECONDS = 2000;

/** This machine. */
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

/** The machine beyond files and environment, so that tests can have others. */
export interface Machine {
  host: Host;
  /** Whether anything accepts connections there. */
  isPortOpen(address: HostAddress): Promise<boolean>;
  /** Bytes that can still be written to the disk of a folder. */
  freeBytes: FreeBytes;
}
