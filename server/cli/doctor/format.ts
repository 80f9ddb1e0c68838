// The report as people read it: sections of marks, subjects and words, wrapped to the window, and at
// the end what to do. Pure.

import { formatTable, padEnd, type Style, widthOf } from "../terminal/mod.ts";
import type { Finding, Section } from "./types.ts";

/** How the report looks. */
export interface Look {
  style: Style;
  /** Columns of the window. */
  columns: number;
}

const INDENT = "  ";
const MARK_COLUMNS = widthOf("warning") + INDENT.length;
const LEAST_TEXT_COLUMNS = 30;

/** A section: its title, a line or more per finding, its table. */
export function formatSection({ title, findings, table }: Section, look: Look): string {
  const subjectColumns = Math.max(...findings.map(({ subject }) => widthOf(subject))) +
    INDENT.length;
  const lines = findings.flatMap((finding) => formatFinding(finding, subjectColumns, look));
  const rows = table ? formatTable(table).trimEnd().split("\n") : [];
  const width = look.columns - INDENT.length - Math.max(...rows.map(widthOf));
  const margin = " ".repeat(Math.max(0, Math.min(MARK_COLUMNS, width)));
  const all = [...lines, ...rows.map((line) => margin + line)];
  return [look.style.bold(title), ...all.map((line) => INDENT + line)].join("\n") + "\n\n";
}

function formatFinding(
  { mark, subject, text }: Finding,
  subjectColumns: number,
  { style, columns }: Look,
): string[] {
  const left = MARK_COLUMNS + subjectColumns;
  const width = columns - INDENT.length - left;
  const isNarrow = width < LEAST_TEXT_COLUMNS;
  const [first = "", ...rest] = wrap(text, isNarrow ? columns - 2 * INDENT.length : width);
  const dressed = mark === "ok" ? style.dim(mark) : style.bold(mark);
  const head = dressed + " ".repeat(MARK_COLUMNS - widthOf(mark)) + padEnd(subject, subjectColumns);
  return isNarrow
    ? [head.trimEnd(), ...[first, ...rest].map((line) => INDENT + line)]
    : [head + first, ...rest.map((line) => " ".repeat(left) + line)];
}

/** The advice of all findings, the worst first; a sentence if there is none. */
export function formatTodos(findings: readonly Finding[], { style, columns }: Look): string {
  const marks = ["problem", "warning", "ok"];
  const rank = ({ mark }: Finding) => marks.indexOf(mark);
  const todos = [...findings].sort((a, b) => rank(a) - rank(b)).flatMap(({ todo }) => todo ?? []);
  if (todos.length === 0) return "All is well: there is nothing to do.\n";
  const lines = todos.flatMap(({ text, command }, index) => {
    const number = `${index + 1}. `;
    const [first = "", ...rest] = wrap(text, columns - INDENT.length - number.length);
    const margin = " ".repeat(number.length);
    // A command is copied, so it is never wrapped.
    return [number + first, ...rest.map((line) => margin + line)].concat(
      command === undefined ? [] : [`${margin}${INDENT}${command}`],
    );
  });
  return [style.bold("What to do"), ...lines.map((line) => INDENT + line)].join("\n") + "\n";
}

/** The text in lines of at most a number of columns, if its words are short enough. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${word}`) <= columns) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
