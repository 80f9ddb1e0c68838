// The doctor's report: sections of findings, each with a mark, and with advice if something is
// wrong. Plain data, which --json prints as it is.

import type { HostAddress } from "../../network/host.ts";
import { type FreeBytes, systemFreeBytes } from "../../registry/disk_space.ts";
import { type Host, localHost } from "../setup/host.ts";

/**
 * The mark of a finding. A warning is about what works, but could work better; a problem does not
 * work.
 */
export type Mark = "ok" | "warning" | "problem";

/** One thing that was looked at. */
export interface Finding {
  mark: Mark;
  /** The subject, in a word or two. */
  subject: string;
  /** How it is. */
  text: string;
  todo?: Todo;
}

/** The advice of a finding. */
export interface Todo {
  /** A sentence or two. */
  text: string;
  /** The exact command line, if there is one. */
  command?: string;
}

/** Findings that belong together. */
export interface Section {
  title: string;
  findings: Finding[];
  /** Numbers and names for programs. */
  facts?: Record<string, unknown>;
  /** For people, below the findings; the first row is the head. */
  table?: string[][];
}

export function worst(marks: readonly Mark[]): Mark {
  return (["problem", "warning"] as const).find((mark) => marks.includes(mark)) ?? "ok";
}

// The machine that the doctor examines, behind an interface so that tests can have others.

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
