// The machine that the doctor looks at, outside of tests: this one.

import { systemFreeBytes } from "../../registry/disk_space.ts";
import { localHost } from "../setup/host.ts";
import type { Machine } from "./types.ts";

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
