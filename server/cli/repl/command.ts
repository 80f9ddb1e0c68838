// What commands of the REPL have in common: what they are called with, what comes of them, the fault of
// one that cannot be done, and the words of a typed line: quotes around several make them one, `"""`
// brackets text of many lines.

import type { Session } from "./session.ts";

/** What a command works with. */
export interface CommandCall {
  session: Session;
  /** All behind the command's name. */
  argument: string;
  signal: AbortSignal;
}

/** "leave" ends the session. */
export type CommandOutcome = "leave" | void;

/** A fault of a command, as a sentence that says what to do; the conversation goes on. */
export class CommandError extends Error {
  override name = "CommandError";
}

const FENCE = '"""';
/** A message or a system message that opens with a fence. */
const OPENED = /^\s*(?:\/set\s+system\s+)?"""/;

/** Whether a text is whole: a fence that opens it has been closed at its end. */
export function isComplete(text: string): boolean {
  const opening = OPENED.exec(text)?.[0];
  return opening === undefined || text.slice(opening.length).trimEnd().endsWith(FENCE);
}

/** The text between fences, or, where there are none, the text. */
export function textOf(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith(FENCE)) return trimmed;
  const inner = trimmed.slice(FENCE.length);
  return inner.endsWith(FENCE) ? inner.slice(0, -FENCE.length) : inner;
}

/** The first word and what comes behind it. */
export function firstWord(text: string): [word: string, rest: string] {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*([^]*)$/.exec(text) ?? [];
  return [word, rest.trimEnd()];
}

/** All words; what stands in quotes is one, with the escapes of JSON if the quotes are double. */
export function wordsOf(text: string): string[] {
  const words = text.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|\S+/g);
  return [...words].map(([whole, double, single]) =>
    double === undefined ? single ?? whole : unescape(double)
  );
}

function unescape(quoted: string): string {
  try {
    return JSON.parse(`"${quoted}"`);
  } catch {
    return quoted;
  }
}
