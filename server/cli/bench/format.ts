// The report of a benchmark for people: a table for the terminal, or Markdown. Pure.

import { formatSize } from "../../../engine/mod.ts";
import { formatBytes, formatDuration, formatTable } from "../terminal/mod.ts";
import type { BenchReport, BenchRow, Spread } from "./types.ts";

const HEAD = ["TEST", "TOKENS/S", "RANGE", "FIRST TOKEN"];

/** The report as it is printed on a terminal. */
export function formatReport(report: BenchReport): string {
  const after = [bandwidthLine(report), ...report.notes].filter((line) => line !== undefined);
  return [
    `${titleOf(report)}\n${factsOf(report)}\n`,
    formatTable([HEAD, ...report.rows.map(cellsOf)]),
    ...(after.length > 0 ? [after.map((line) => `${line}\n`).join("")] : []),
  ].join("\n");
}

/** The report in Markdown, for a page or an issue. */
export function formatMarkdown(report: BenchReport): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |\n`;
  const notes = [factsOf(report), bandwidthLine(report), ...report.notes];
  const table = line(HEAD.map((head) => head.toLowerCase())) + line(["---", "--:", "--:", "--:"]) +
    report.rows.map((row) => line(cellsOf(row))).join("");
  const list = notes.flatMap((note) => note === undefined ? [] : [`- ${note}\n`]).join("");
  return `### ${titleOf(report)}\n\n${table}\n${list}`;
}

function titleOf({ model, details, server }: BenchReport): string {
  const { parameter_size: size, quantization_level: type } = details;
  const what = [size, type].filter(Boolean).join(" ");
  const where = server.inProcess ? "in this process" : `at ${server.url}`;
  return `${model}${what && ` (${what})`}, version ${server.version} ${where}`;
}

function factsOf({ contextLength, device, memoryBytes, loadMilliseconds }: BenchReport): string {
  const load = loadMilliseconds === undefined
    ? "in memory before"
    : `loaded in ${formatDuration(loadMilliseconds)}`;
  const memory = formatSize(memoryBytes);
  return `on ${device}, window of ${contextLength} tokens, ${memory} of memory, ${load}`;
}

function cellsOf(
  { test, size, tokensPerSecond, firstTokenMilliseconds }: BenchRow,
): string[] {
  const name = test === "prefill"
    ? `prefill ${size} tokens`
    : test === "drafts"
    ? "decode with drafts"
    : size === 1
    ? "decode"
    : `decode, ${size} at a time`;
  return [
    name,
    rate(tokensPerSecond.median),
    rangeOf(tokensPerSecond),
    formatDuration(firstTokenMilliseconds.median),
  ];
}

function rangeOf({ least, most }: Spread): string {
  return `${rate(least)} to ${rate(most)}`;
}

/** Three digits or more say what repeats keep. */
function rate(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

function bandwidthLine({ bandwidth }: BenchReport): string | undefined {
  if (!bandwidth) return undefined;
  const { weightBytesPerSecond: weights, readBytesPerSecond: read } = bandwidth;
  const share = Math.round(100 * weights / read);
  return `decode reads ${formatBytes(weights)}/s of weights, ${share}% of what a plain read ` +
    `reaches, ${formatBytes(read)}/s`;
}
