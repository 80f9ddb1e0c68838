// The server's log: lines with time and level, or a JSON object per line for machines, written
// through a given function. No global state and no configuration file; `serve` writes to stderr.

import { bounded } from "./bounded.ts";

/** Facts of an entry beside its text; only the JSON form shows them. */
export type LogFields = Record<string, string | number | boolean | undefined>;

/** The place where the server reports what it does. */
export interface Log {
  debug(text: string, fields?: LogFields): void;
  info(text: string, fields?: LogFields): void;
  warn(text: string, fields?: LogFields): void;
  error(text: string, fields?: LogFields): void;
}

/** How entries are written. */
export type LogFormat = "plain" | "json";

export interface LogOptions {
  /** Takes whole lines, line feed included. */
  write: (line: string) => void;
  /** Whether debug lines are written. Default false. */
  debug?: boolean;
  /** Default "plain". */
  format?: LogFormat;
  now?: () => Date;
}

/** Most characters of an entry's text, and of each of its fields. */
const [MAX_TEXT, MAX_FIELD] = [4096, 512];

type Level = "debug" | "info" | "warn" | "error";

/**
 * A log that writes one line per entry: `2026-11-21T10:00:00.000Z INFO  text`, or
 * `{"time":"2026-11-21T10:00:00.000Z","level":"info","message":"text"}` with the fields behind.
 */
export function createLog(
  { write, debug = false, format = "plain", now = () => new Date() }: LogOptions,
): Log {
  const encode = format === "json" ? jsonLine : plainLine;
  const at = (level: Level) => (text: string, fields?: LogFields) =>
    write(encode(now().toISOString(), level, bounded(text, MAX_TEXT), fields) + "\n");
  return {
    debug: debug ? at("debug") : () => {},
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
}

function jsonLine(time: string, level: Level, message: string, fields?: LogFields): string {
  const facts = Object.entries(fields ?? {}).map(([name, value]) => [
    name,
    typeof value === "string" ? bounded(value, MAX_FIELD) : value,
  ]);
  return JSON.stringify({ time, level, message, ...Object.fromEntries(facts) });
}

function plainLine(time: string, level: Level, text: string): string {
  return `${time} ${level.toUpperCase().padEnd(5)} ${printable(text)}`;
}

/**
 * The text with control characters escaped, so that a request can forge neither lines nor terminal
 * commands.
 */
function printable(text: string): string {
  return text
    .replace(/\r?\n/g, "\n  ")
    // deno-lint-ignore no-control-regex
    .replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, (character) => {
      return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
    });
}

/** The message of an error, for an answer, the log or the terminal. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
