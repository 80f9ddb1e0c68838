// Numbers, times and tables as the commands print them, and the columns that texts take. Pure.

import { stringWidth } from "../../dependencies.ts";
import type { Environment } from "../../settings/environment.ts";

const BYTE_UNITS = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "KB"]] as const;

/** Decimal size in two or three digits: 912 B, 1.9 GB, 815 MB. */
export function formatBytes(bytes: number): string {
  for (const [unit, name] of BYTE_UNITS) {
    const value = bytes / unit;
    // What would round to 1000 is one of the larger unit.
    if (value >= 0.9995) return `${value >= 9.95 ? Math.round(value) : value.toFixed(1)} ${name}`;
  }
  return `${bytes} B`;
}

/** Seconds still to wait, in at most six characters: 38s, 2m13s, 1h05m; empty for days. */
export function formatRemaining(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60)];
  const twoDigits = (count: number) => String(count % 60).padStart(2, "0");
  if (hours >= 100) return "";
  if (hours > 0) return `${hours}h${twoDigits(minutes)}m`;
  return minutes > 0 ? `${minutes}m${twoDigits(whole)}s` : `${whole}s`;
}

const TIME_UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** "2 minutes ago", "4 minutes from now", or "Forever" for what lies more than a century ahead. */
export function formatRelative(time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1000;
  const distance = Math.abs(seconds);
  if (seconds > 100 * 31_536_000) return "Forever";
  const [unit, size] = TIME_UNITS.find(([, size]) => distance >= size) ?? ["second", 1];
  const count = Math.floor(distance / size);
  if (count === 0) return "Now";
  return `${count} ${unit}${count === 1 ? "" : "s"} ${seconds < 0 ? "ago" : "from now"}`;
}

/** Milliseconds as a person reads them: 812.4ms, 12.30s. */
export function formatDuration(milliseconds: number): string {
  return milliseconds < 1000
    ? `${milliseconds.toFixed(1)}ms`
    : `${(milliseconds / 1000).toFixed(2)}s`;
}

/** Rows under their heads, columns four spaces apart, no borders; ends with a line feed. */
export function formatTable(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column]!))));
  const lines = rows.map((row) =>
    row.map((cell, column) => padEnd(cell, widths[column]!)).join("    ").trimEnd()
  );
  return lines.join("\n") + "\n";
}

// How many columns of a terminal a text takes, and texts cut and padded to columns: a CJK character
// or an emoji takes two, a combining mark none.

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Columns that the text takes; control sequences take none. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** The text with spaces behind, up to that many columns. */
export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/** The text, or as much of its beginning as fits, with an ellipsis. No control sequences. */
export function truncate(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return columns > 0 ? `${kept}…` : "";
}

/** All but tab and line feed. */
const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/** The text without its control characters, except for tabs and line feeds. */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, "");
}

// The few styles of text that the commands use, as SGR sequences of ECMA-48, and when they are left
// out: NO_COLOR (no-color.org), TERM=dumb, or output that is no terminal.

/** Dresses text; the plain style gives it back as it is. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
}

const plainStyle: Style = { bold: (text) => text, dim: (text) => text };

const terminalStyle: Style = {
  bold: (text) => `\x1b[1m${text}\x1b[22m`,
  dim: (text) => `\x1b[2m${text}\x1b[22m`,
};

/** @param isTerminal whether the text goes to one */
export function styleFor(isTerminal: boolean, environment: Environment): Style {
  // Any text but the empty one turns colours off, as no-color.org has it.
  return movesCursor(isTerminal, environment) && !environment.NO_COLOR ? terminalStyle : plainStyle;
}

/** Whether what is written there may contain control sequences at all. */
export function movesCursor(isTerminal: boolean, environment: Environment): boolean {
  return isTerminal && environment.TERM !== "dumb";
}
