// The settings of a benchmark, and its report.

import { formatSize } from "../../../engine/mod.ts";
import { formatBytes, formatDuration, formatTable } from "../terminal/mod.ts";

/** The things to measure. */
export interface BenchSettings {
  model: string;
  /** Lengths of prompts in tokens. */
  promptTokens: readonly number[];
  /** Tokens of an answer. */
  tokens: number;
  /** Numbers of answers at a time. */
  parallel: readonly number[];
  /** How often each is measured. */
  repeat: number;
  /** Window in tokens. Default: the server's. */
  contextLength?: number;
  /** Name of the model's draft model, which is measured as well. Default: the model's own, or none. */
  draft?: string;
}

/** Several measurements of one thing. */
export interface Spread {
  median: number;
  least: number;
  most: number;
}

/** The measurements of one thing. */
export interface BenchRow {
  test: "prefill" | "decode" | "drafts";
  /** For prefill, the tokens of the prompt; else the number of answers at a time. */
  size: number;
  /** Tokens per second of all answers together. */
  tokensPerSecond: Spread;
  /** From the request to its first token; of several answers, that of the slowest. */
  firstTokenMilliseconds: Spread;
}

/** All that was found. */
export interface BenchReport {
  model: string;
  /** The model's facts, as the server tells them. */
  details: Record<string, unknown>;
  server: { url: string; inProcess: boolean; version: string };
  /** Length of the window, in tokens. */
  contextLength: number;
  /** The device: its name if it is this process's, otherwise whether it is the CPU or a GPU. */
  device: string;
  /** All that the model takes. */
  memoryBytes: number;
  /** Undefined if the model was loaded before. */
  loadMilliseconds?: number;
  rows: BenchRow[];
  /** How much of the memory's speed decoding one answer reaches, where that is known. */
  bandwidth?: { weightBytesPerSecond: number; readBytesPerSecond: number };
  /** The parts that were left out, and why. */
  notes: string[];
  /** The error that ended the run early. */
  failure?: unknown;
}

/** @param values at least one */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}

// The report of a benchmark for people: a table for the terminal, or Markdown. Pure.

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
