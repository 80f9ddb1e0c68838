// The settings of a benchmark, and its report.

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
