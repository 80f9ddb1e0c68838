// `deno task bench:routing`: what the prefix cache gives by routing policy, and how many nodes a load
// needs, by a simulation of a trace; no model runs. docs/scale.md has what came out.
//
//   --nodes N   of each cluster. Default: 8
//   --seed N    of the trace. Default: 1

import { parseArgs } from "node:util";
import { print } from "./report.ts";
import { type NodeKind, type Outcome, simulate } from "./routing/cluster.ts";
import { POLICIES } from "./routing/policies.ts";
import { AGENTS, CHAT, makeTrace, type TraceShape } from "./routing/trace.ts";

/**
 * Two cores, a 1B of four bits, near what bench/results/2026-11-29-zen4.md measured: 129 tokens/s of
 * prompts, 26 ms a step, and 10 ms for each further sequence.
 */
const TWO_CORES: NodeKind = {
  name: "2 cores, 1B Q4_K",
  prefill: 130,
  step: 0.025,
  sequence: 0.008,
  slots: 4,
  cache: 32_768,
};

/**
 * A GPU with 80 GB and 2 TB/s, an 8B of four bits: half of its bandwidth, and a quarter of its
 * operations, as an assumption. No such GPU was measured.
 */
const GPU: NodeKind = {
  name: "80 GB GPU, 8B Q4_K (assumed)",
  prefill: 6000,
  step: 0.006,
  sequence: 0.0006,
  slots: 32,
  cache: 400_000,
};

const SECONDS = 600;

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "8" },
    seed: { type: "string", default: "1" },
  },
});
const [nodes, seed] = [Number(values.nodes), Number(values.seed)];
if (!(nodes >= 1) || !Number.isInteger(seed)) {
  throw new RangeError("Cannot simulate: --nodes and --seed are whole numbers, --nodes at least 1");
}

/** The value below which a share of the numbers is. */
function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

function row(name: string, outcomes: readonly Outcome[]): string {
  const sum = (read: (outcome: Outcome) => number) => outcomes.reduce((s, o) => s + read(o), 0);
  const cached = sum(({ cached }) => cached) / sum(({ prompt }) => prompt);
  const waits = outcomes.map(({ first }) => first);
  return `| ${name} | ${(100 * cached).toFixed(0)} % | ${quantile(waits, 0.5).toFixed(2)} s | ` +
    `${quantile(waits, 0.95).toFixed(2)} s |`;
}

/**
 * The greatest rate at which 95 % of requests wait no longer than so many seconds, within 5 %; 0 if the
 * least rate is too much.
 */
function capacity(
  kind: NodeKind,
  shape: Shape,
  policy: string,
  seconds: number,
  [least, most]: readonly [least: number, most: number],
): number {
  const isInTime = (rate: number) => {
    const trace = makeTrace({ ...shape, rate, seconds: 300 }, seed);
    const waits = simulate(trace, kind, nodes, POLICIES[policy]!()).map(({ first }) => first);
    return quantile(waits, 0.95) <= seconds;
  };
  let [low, high] = [least, most];
  if (!isInTime(low)) return 0;
  while (high > 1.05 * low) {
    const rate = Math.sqrt(low * high);
    if (isInTime(rate)) low = rate;
    else high = rate;
  }
  return low;
}

type Shape = Omit<TraceShape, "rate" | "seconds">;

/** Requests a second of each node, and a wait for the first token with which people are content. */
const CASES: [kind: NodeKind, trace: string, shape: Shape, rate: number, content: number][] = [
  [TWO_CORES, "chat", CHAT, 0.12, 10],
  [GPU, "chat", CHAT, 3, 2],
  [GPU, "agents", AGENTS, 0.5, 5],
];

for (const [kind, name, shape, rate] of CASES) {
  const trace = makeTrace({ ...shape, rate: rate * nodes, seconds: SECONDS }, seed);
  print(
    `\n## ${nodes} nodes, ${kind.name}, ${name}: ${(rate * nodes).toFixed(1)} requests/s\n`,
  );
  print("| policy | cached | first token, median | 95 % |\n| --- | --- | --- | --- |");
  for (const [policy, create] of Object.entries(POLICIES)) {
    print(row(policy, simulate(trace, kind, nodes, create())));
  }
}

print(`\n## Requests/s of ${nodes} nodes with 95 % of first tokens in time\n`);
const heads = CASES.map(([{ name }, trace, , , content]) => `${name}, ${trace}: ${content} s`);
print(`| policy | ${heads.join(" | ")} |`);
print(`| --- |${" --- |".repeat(CASES.length)}`);
for (const policy of Object.keys(POLICIES)) {
  const rates = CASES.map(([kind, , shape, rate, content]) =>
    capacity(kind, shape, policy, content, [rate * nodes / 16, rate * nodes * 4]).toPrecision(2)
  );
  print(`| ${policy} | ${rates.join(" | ")} |`);
}
