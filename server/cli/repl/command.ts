// What commands of the REPL have in common: their arguments, their outcome, their error, and the
// words of a typed line. Quotes make one word of several; `"""` encloses text of several lines.

import type { Session } from "./session.ts";

/** The arguments of a command. */
export interface CommandCall {
  session: Session;
  /** The text after the command's name. */
  argument: string;
  signal: AbortSignal;
}

/** "leave" ends the session. */
export type CommandOutcome = "leave" | void;

/** An error of a command that tells what to do; the conversation goes on. */
export class CommandError extends Error {
  override name = "CommandError";
}

const FENCE = '"""';
/** A message or a system message that opens with a fence. */
const OPENED = /^\s*(?:\/set\s+system\s+)?"""/;

/** Whether a text is complete: if a fence opens it, one closes it. */
export function isComplete(text: string): boolean {
  const opening = OPENED.exec(text)?.[0];
  return opening === undefined || text.slice(opening.length).trimEnd().endsWith(FENCE);
}

/** The text without the fences around it, if there are any. */
export function textOf(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith(FENCE)) return trimmed;
  const inner = trimmed.slice(FENCE.length);
  return inner.endsWith(FENCE) ? inner.slice(0, -FENCE.length) : inner;
}

/** The first word, and the text after it. */
export function firstWord(text: string): [word: string, rest: string] {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*([^]*)$/.exec(text) ?? [];
  return [word, rest.trimEnd()];
}

/** All words. Text in quotes is one word; in double quotes it may have the escapes of JSON. */
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
