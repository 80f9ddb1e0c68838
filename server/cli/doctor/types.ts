// What the doctor finds: sections of findings, each of which is well or not, with what to do if not.
// Plain data, which --json prints as it is.

import type { FreeBytes } from "../../registry/disk_space.ts";
import type { Host } from "../setup/host.ts";
import type { HostAddress } from "../../network/host.ts";

/** How it is. A warning works, though not as well as it could; a problem does not. */
export type Mark = "ok" | "warning" | "problem";

/** One thing that was looked at. */
export interface Finding {
  mark: Mark;
  /** What was looked at, in a word or two. */
  subject: string;
  /** How it is. */
  text: string;
  todo?: Todo;
}

/** What to do about a finding. */
export interface Todo {
  /** A sentence or two. */
  text: string;
  /** The exact command line, where there is one. */
  command?: string;
}

/** What belongs together. */
export interface Section {
  title: string;
  findings: Finding[];
  /** Numbers and names for programs. */
  facts?: Record<string, unknown>;
  /** For people, below the findings; the first row is the head. */
  table?: string[][];
}

/** The machine beyond files and environment, so that tests can have others. */
export interface Machine {
  host: Host;
  /** Whether anything accepts connections there. */
  isPortOpen(address: HostAddress): Promise<boolean>;
  /** Bytes that can still be written to the disk of a folder. */
  freeBytes: FreeBytes;
}

/** The worst of the marks. */
export function worst(marks: readonly Mark[]): Mark {
  return (["problem", "warning"] as const).find((mark) => marks.includes(mark)) ?? "ok";
}
