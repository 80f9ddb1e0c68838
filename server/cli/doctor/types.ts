// What the doctor finds: sections of findings, each of which is well or not, with what to do if not.
// Plain data, which --json prints as it is.

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

/** The worst of the marks. */
export function worst(marks: readonly Mark[]): Mark {
  return (["problem", "warning"] as const).find((mark) => marks.includes(mark)) ?? "ok";
}
