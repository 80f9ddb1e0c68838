// The doctor's report: sections of findings, each with a mark, and with advice if something is
// wrong. Plain data, which --json prints as it is.

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
