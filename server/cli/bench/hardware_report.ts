// The report that people send in of a model on their device: what computes, how fast it is, the time of
// each kernel, and how fast llama.cpp is there. The format, and its text in Markdown;
// bench/results/hardware/README.md describes it for readers. Pure.

import type { DeviceExamination, ModelInfo, PhaseProfile } from "../../../engine/mod.ts";
import type { Host } from "../setup/host.ts";
import { formatBytes } from "../terminal/mod.ts";
import type { ProfileReport } from "./profile.ts";

/** Raised whenever a member changes its meaning. */
export const REPORT_VERSION = 1;

/** A kernel in one phase: the sum of its calls in one step. */
export interface KernelRow {
  name: string;
  calls: number;
  seconds: number;
  bytes: number;
  flops: number;
}

/** How fast a program reads a prompt and writes an answer. */
export interface Speed {
  prefillTokensPerSecond: number;
  decodeTokensPerSecond: number;
}

/** The figures of another program with the same file. */
export interface Peer extends Speed {
  name: string;
  /** Its version, and what it computed on, as it says. */
  version: string;
  backend: string;
}

/** The contents of a report's JSON file. Units: seconds, bytes, tokens per second. */
export interface HardwareReport {
  version: number;
  /** Of the measurement, such as "2026-11-23". */
  date: string;
  program: { quern: string; deno: string; os: string; arch: string };
  device: {
    kind: string;
    name: string;
    vendor: number;
    device: number;
    platform: string;
    /** Empty where the system does not tell. */
    driver: string;
    /** Whether it is a driver that runs on the CPU. */
    software: boolean;
    capabilities: Record<string, unknown>;
    /** Whether a small product came out as on the CPU. */
    computesRight: boolean;
    readBytesPerSecond: number;
  };
  model: { name: string; architecture: string; quantization: string; bytes: number };
  promptTokens: number;
  answerTokens: number;
  speed: Speed;
  /** Share of the measured bandwidth that decoding reads weights and cache with. */
  decodeShareOfRead: number;
  kernels: { prefill: KernelRow[]; decode: KernelRow[] };
  peer?: Peer;
}

export interface ReportParts {
  date: Date;
  program: HardwareReport["program"];
  examination: DeviceExamination;
  driver: string;
  profile: ProfileReport & { readBandwidth: number };
  info: Pick<ModelInfo, "architecture" | "quantization" | "fileSize">;
  promptTokens: number;
  peer?: Peer;
}

/** Puts a report together. */
export function makeReport(parts: ReportParts): HardwareReport {
  const { date, program, examination, driver, profile, info, promptTokens, peer } = parts;
  const { choice, profile: device, product } = examination;
  const { prefill, decode, readBandwidth } = profile;
  const read = decode ? sum(decode, ({ bytesRead }) => bytesRead) / decode.untracedSeconds : 0;
  return {
    version: REPORT_VERSION,
    date: date.toISOString().slice(0, 10),
    program,
    device: {
      kind: choice.kind,
      name: device.description,
      vendor: device.vendor,
      device: device.device,
      platform: device.platform.name,
      driver,
      software: device.capabilities.software,
      capabilities: { ...device.capabilities },
      computesRight: product.wrong === 0,
      readBytesPerSecond: readBandwidth,
    },
    model: {
      name: profile.model,
      architecture: info.architecture,
      quantization: info.quantization,
      bytes: info.fileSize,
    },
    promptTokens,
    answerTokens: (decode?.steps ?? 0) + 1,
    speed: {
      prefillTokensPerSecond: prefill.tokens / prefill.untracedSeconds,
      decodeTokensPerSecond: decode ? decode.steps / decode.untracedSeconds : 0,
    },
    decodeShareOfRead: read / readBandwidth,
    kernels: { prefill: rowsOf(prefill), decode: decode ? rowsOf(decode) : [] },
    ...(peer && { peer }),
  };
}

function sum(
  { operations }: PhaseProfile,
  valueOf: (one: { bytesRead: number; flops: number }) => number,
): number {
  return operations.values().reduce((sum, operation) => sum + valueOf(operation), 0);
}

function rowsOf({ operations, steps }: PhaseProfile): KernelRow[] {
  return [...operations].map(([name, { calls, seconds, bytesRead, bytesWritten, flops }]) => ({
    name,
    calls: calls / steps,
    seconds: seconds / steps,
    bytes: (bytesRead + bytesWritten) / steps,
    flops: flops / steps,
  }));
}

/** A report in Markdown. */
export function formatHardwareReport(report: HardwareReport): string {
  const { device, model, program, speed, peer, promptTokens, answerTokens } = report;
  const read = device.readBytesPerSecond;
  const programs: [string, Speed][] = [["Quern", speed]];
  if (peer) programs.push([`${peer.name} ${peer.version}, ${peer.backend}`, peer]);
  const ratio = (own: number, other: number) => other > 0 ? (own / other).toFixed(2) : "-";
  const rates = [
    ["program", `prefill of ${promptTokens}`, `decode of ${answerTokens}`],
    ...programs.map(([name, { prefillTokensPerSecond, decodeTokensPerSecond }]) => [
      name,
      prefillTokensPerSecond.toFixed(1),
      decodeTokensPerSecond.toFixed(1),
    ]),
    ...peer
      ? [[
        "ratio",
        ratio(speed.prefillTokensPerSecond, peer.prefillTokensPerSecond),
        ratio(speed.decodeTokensPerSecond, peer.decodeTokensPerSecond),
      ]]
      : [],
  ];
  const kernels = (title: string, rows: readonly KernelRow[]) => [
    [title, "calls", "µs", "GB/s", "of read", "GFLOP/s"],
    ...rows.map(({ name, calls, seconds, bytes, flops }) => [
      name,
      `${Math.round(calls)}`,
      (1e6 * seconds).toFixed(1),
      rate(bytes, seconds).toFixed(1),
      `${(100 * rate(bytes, seconds) * 1e9 / read).toFixed(0)} %`,
      rate(flops, seconds).toFixed(0),
    ]),
  ];
  const facts = [
    `device: ${device.name}${device.driver && `, driver ${device.driver}`}, by ${device.platform}` +
    (device.software && device.kind !== "cpu" ? ", a driver on the CPU" : ""),
    `a plain read of its memory: ${formatBytes(read)}/s; decoding reads at ` +
    `${(100 * report.decodeShareOfRead).toFixed(0)} % of that`,
    ...device.computesRight ? [] : ["a test product came out wrong on this device"],
    `Quern ${program.quern}, Deno ${program.deno}, ${program.os} ${program.arch}, ${report.date}`,
  ];
  return [
    `# ${model.name} (${model.architecture}, ${model.quantization}) on ${device.name}\n`,
    facts.map((fact) => `- ${fact}\n`).join(""),
    "Tokens per second:\n",
    table(rates),
    "Time in kernels, of one step:\n",
    table(kernels("prefill", report.kernels.prefill)),
    table(kernels("decode", report.kernels.decode)),
  ].join("\n");
}

function rate(count: number, seconds: number): number {
  return seconds > 0 ? count / seconds / 1e9 : 0;
}

function table([head, ...rows]: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |\n`;
  const rule = head!.map((_, column) => column === 0 ? "---" : "--:");
  return line(head!) + line(rule) + rows.map(line).join("");
}

// llama.cpp's own benchmark beside ours, where it is installed: `llama-bench` on the same file with as
// many tokens.

const PROGRAM = "llama-bench";

/** Seconds that it may take. */
const MOST_SECONDS = 600;

/**
 * Runs it on a file with all layers on the GPU.
 *
 * @returns undefined where it is not installed, fails, or says what cannot be read
 */
export async function runLlamaBench(
  host: Host,
  path: string,
  { promptTokens, tokens }: { promptTokens: number; tokens: number },
): Promise<Peer | undefined> {
  const counts = ["-p", `${promptTokens}`, "-n", `${tokens}`];
  const command = [PROGRAM, "-m", path, ...counts, "-ngl", "99", "-o", "json"];
  const { ok, output } = await host.run(command, { seconds: MOST_SECONDS });
  return ok ? readLlamaBench(output) : undefined;
}

/** The facts in its output; undefined if the output is something else. */
export function readLlamaBench(output: string): Peer | undefined {
  try {
    const runs: Record<string, unknown>[] = JSON.parse(output);
    const rateOf = (isOwn: (run: Record<string, unknown>) => boolean) => {
      const rate = Number(runs.find(isOwn)?.avg_ts);
      if (!(rate > 0)) throw new RangeError("no rate");
      return rate;
    };
    const [first] = runs;
    const { build_number: number, build_commit: commit, backends } = first!;
    return {
      name: PROGRAM,
      version: [number, commit].filter((part) => part !== undefined).join(" "),
      backend: `${backends ?? "unknown"}`,
      prefillTokensPerSecond: rateOf(({ n_prompt, n_gen }) => Number(n_prompt) > 0 && !n_gen),
      decodeTokensPerSecond: rateOf(({ n_prompt, n_gen }) => Number(n_gen) > 0 && !n_prompt),
    };
  } catch {
    return undefined;
  }
}
