// The report of a profile: where the time of a prompt and of an answer went, by operation and by layer.
// Pure.

import type { ModelProfile, OperationSum, PhaseProfile } from "../../../engine/mod.ts";
import { formatBytes, formatTable } from "../terminal/mod.ts";

export interface ProfileReport extends ModelProfile {
  model: string;
  /** The device that computes. */
  device?: string;
  /** Bytes per second that a plain read of its memory reaches, where that is known. */
  readBandwidth?: number;
}

/** A table: what its first column is, and its rows of cells. */
interface Table {
  title: string;
  rows: string[][];
}

const COLUMNS = ["CALLS", "TIME", "SHARE", "GB/S", "OF READ", "GFLOP/S"];

/** The report as it is printed on a terminal. */
export function formatProfile(report: ProfileReport): string {
  return [`${titleOf(report)}\n`, ...partsOf(report)].map((part) =>
    typeof part === "string" ? part : formatTable(part.rows)
  ).join("\n");
}

/** The report in Markdown, for a page or an issue. */
export function formatProfileMarkdown(report: ProfileReport): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |\n`;
  const parts = partsOf(report).map((part) => {
    if (typeof part === "string") return part;
    const [head, ...rows] = part.rows;
    const rule = head!.map((_, column) => column === 0 ? "---" : "--:");
    return line(head!.map((cell) => cell.toLowerCase())) + line(rule) + rows.map(line).join("");
  });
  return [`### ${titleOf(report)}\n`, ...parts].join("\n");
}

/** The report as data: seconds, bytes and operations of all steps of a phase. */
export function profileToJson(report: ProfileReport): string {
  const { prefill, decode, ...facts } = report;
  const phase = ({ operations, layers, ...times }: PhaseProfile) => ({
    ...times,
    betweenSeconds: betweenSeconds({ operations, ...times }),
    operations: [...operations].map(([name, sum]) => ({ name, ...sum })),
    layers: [...layers].map(([layer, sum]) => ({ layer: layer ?? null, ...sum })),
  });
  const phases = { prefill: phase(prefill), ...(decode && { decode: phase(decode) }) };
  return JSON.stringify({ ...facts, ...phases }, null, 2) + "\n";
}

function titleOf({ model, device, readBandwidth }: ProfileReport): string {
  return [
    model,
    ...(device === undefined ? [] : [` on ${device}`]),
    ...(readBandwidth === undefined ? [] : [`, which reads ${formatBytes(readBandwidth)}/s`]),
  ].join("");
}

function partsOf({ prefill, decode, readBandwidth }: ProfileReport): (string | Table)[] {
  return [
    ...phaseParts("prefill", prefill, readBandwidth),
    ...(decode ? phaseParts("decode", decode, readBandwidth) : []),
  ];
}

/** The time of all steps of the prompt together, or the mean of the decoding steps, which are alike. */
function phaseParts(
  name: "prefill" | "decode",
  phase: PhaseProfile,
  readBandwidth: number | undefined,
): (string | Table)[] {
  const steps = name === "decode" ? phase.steps : 1;
  const milliseconds = (seconds: number) => `${number(1000 * seconds / steps)}ms`;
  const count = `${phase.steps} ${phase.steps === 1 ? "step" : "steps"}`;
  const what = name === "prefill"
    ? `prefill of ${phase.tokens} tokens in ${count}`
    : `decode, the mean of ${count}`;
  const cells = (label: string, sum: OperationSum) => {
    const { calls, seconds, bytesRead, bytesWritten, flops } = sum;
    const rate = seconds > 0 ? (bytesRead + bytesWritten) / seconds : 0;
    return [
      label,
      `${Math.round(calls / steps)}`,
      milliseconds(seconds),
      percent(seconds / phase.seconds),
      number(rate / 1e9),
      readBandwidth ? percent(rate / readBandwidth) : "",
      number(seconds > 0 ? flops / seconds / 1e9 : 0),
    ];
  };
  const between = betweenSeconds(phase);
  const rest = [
    ["between operations", "", milliseconds(between), percent(between / phase.seconds), "", "", ""],
    ["all", "", milliseconds(phase.seconds), percent(1), "", "", ""],
  ];
  const table = (title: string, rows: string[][]) => ({
    title,
    rows: [[title, ...COLUMNS], ...rows],
  });
  return [
    `${what}: ${milliseconds(phase.seconds)}; without a trace, ` +
    `${milliseconds(phase.untracedSeconds)}\n`,
    table("OPERATION", [
      ...[...phase.operations].map(([name, sum]) => cells(name, sum)),
      ...rest,
    ]),
    table("LAYER", [
      ...[...phase.layers].map(([layer, sum]) =>
        cells(layer === undefined ? "none" : `${layer}`, sum)
      ),
      ...rest,
    ]),
  ];
}

/**
 * The time of steps outside of their operations: encoding, submitting, reading tokens, the
 * scheduler.
 */
function betweenSeconds(
  { seconds, operations }: Pick<PhaseProfile, "seconds" | "operations">,
): number {
  const sum = operations.values().reduce((sum, { seconds }) => sum + seconds, 0);
  return Math.max(0, seconds - sum);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
