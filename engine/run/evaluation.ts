// Runs whole sequences for what the model makes of them, not for tokens to follow: the logits of
// every position, or hidden states for embeddings. Sequences share steps as long as they fit. Each step
// is a turn of its own, between which sequences decode.

import type { OutputKind } from "../nn/mod.ts";
import type { PromptItem } from "../prompt/mod.ts";
import { byRows, fittingTokens, layOut, type Share, type WantedRows } from "./planner.ts";
import { Sequence } from "./sequence.ts";
import type { SequencePool } from "./sequence_pool.ts";
import { nextVersion, type StepPlan } from "./step_plan.ts";
import type { StepExecutor } from "./step_executor.ts";

/** What to run and what to read of it. */
export interface Evaluation {
  /** Tokens and images of each sequence, at least one. */
  sequences: readonly (readonly PromptItem[])[];
  /** What comes before each sequence; fed once, and remembered by all. */
  prefix?: readonly PromptItem[];
  output: OutputKind;
  /** Positions whose output is wanted. */
  wanted: WantedRows;
  /** Most tokens of a sequence per step; default as many as there is room for. */
  chunk?: number | undefined;
  /** Every sequence has to run whole in one step, because its tokens see later ones. */
  whole?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Runs a part of an evaluation while nothing else is under way. A part that is false found no memory for
 * a sequence: it runs again once there is more.
 */
export type TakeTurn = (part: () => Promise<boolean>) => Promise<void>;

/** A sequence, where its outputs go, and how many of them are there. */
interface Running {
  sequence: Sequence;
  outputs: Float32Array[];
}

const NOTHING_TO_SAMPLE = {
  sampling: { temperature: 0 } as Sequence["request"]["sampling"],
  maxTokens: 0,
  accept: () => false,
  end: () => {},
};

/** The outputs of each sequence: [wanted positions, columns]. Errors: the signal's reason. */
export async function evaluate(
  executor: StepExecutor,
  pool: SequencePool,
  evaluation: Evaluation,
  takeTurn: TakeTurn,
): Promise<Float32Array[]> {
  const { prefix = [], sequences } = evaluation;
  const [trunk, ...all] = [[], ...sequences].map((tokens): Running => ({
    sequence: new Sequence({ ...NOTHING_TO_SAMPLE, prompt: [...prefix, ...tokens] }),
    outputs: [],
  }));
  const waiting = [...all];
  let running: Running[] = [];
  const admit = () => {
    while (waiting.length > 0 && start(pool, trunk.sequence, waiting[0].sequence)) {
      running.push(waiting.shift()!);
    }
  };
  try {
    while (trunk.sequence.submitted < trunk.sequence.tokens.length) {
      await takeTurn(() => feedPrefix(executor, pool, trunk, evaluation));
    }
    while (waiting.length + running.length > 0) {
      await takeTurn(async () => {
        admit();
        if (running.length === 0) return false;
        await step(executor, shareEvenly(running, executor, evaluation), evaluation);
        for (const { sequence } of running) {
          if (sequence.submitted === sequence.tokens.length) pool.release(sequence);
        }
        running = running.filter(({ sequence }) => sequence.slot >= 0);
        admit(); // At once, lest others take the memory and it has to wait again.
        return true;
      });
    }
    return all.map(({ outputs }) => concat(outputs));
  } finally {
    for (const { sequence } of [trunk, ...running]) pool.release(sequence);
  }
}

/** Feeds a step of what all sequences begin with; false where there is no memory for it. */
async function feedPrefix(
  executor: StepExecutor,
  pool: SequencePool,
  trunk: Running,
  evaluation: Evaluation,
): Promise<boolean> {
  const { sequence } = trunk;
  if (sequence.slot < 0 && !pool.take(sequence, sequence.tokens.length)) return false;
  const shares = shareEvenly([trunk], executor, evaluation);
  await step(executor, shares, { ...evaluation, wanted: "none" });
  return true;
}

/** Gives a sequence its memory, what the trunk has been fed in it; false where there is too little. */
function start(pool: SequencePool, trunk: Sequence, sequence: Sequence): boolean {
  if (trunk.submitted === 0) return pool.take(sequence, sequence.tokens.length);
  if (!pool.fork(trunk, sequence)) return false;
  if (pool.grow(sequence, sequence.tokens.length)) return true;
  pool.release(sequence);
  return false;
}

async function step(
  executor: StepExecutor,
  shares: readonly { share: Share; running: Running }[],
  { output, wanted }: Evaluation,
): Promise<void> {
  if (shares.length === 0) throw new RangeError("Cannot evaluate: a sequence fits no step");
  const plan = layOut(shares.map(({ share }) => share), executor.tileRows, wanted);
  distribute(await evaluateStep(executor, plan, output), shares, wanted);
  for (const { share } of shares) share.sequence.submitted += share.count;
}

/** The outputs of a step. It runs again for those that it has no room for: images that run whole have. */
async function evaluateStep(
  executor: StepExecutor,
  plan: StepPlan,
  output: OutputKind,
): Promise<Float32Array> {
  const most = executor.limits.outputs;
  if (plan.outputs.length <= most) return await executor.evaluate(plan, output);
  const parts: Float32Array[] = [];
  for (let first = 0; first < plan.outputs.length; first += most) {
    const outputs = plan.outputs.slice(first, first + most);
    const shape = { ...plan.shape, outputs: outputs.length };
    parts.push(
      await executor.evaluate({ ...plan, version: nextVersion(), outputs, shape }, output),
    );
  }
  return concat(parts);
}

/** Tokens of each sequence for the next step: all that they have, the same number of each, or all of some. */
function shareEvenly(
  running: readonly Running[],
  executor: StepExecutor,
  { chunk = Infinity, whole = false }: Evaluation,
): { share: Share; running: Running }[] {
  const { limits, wholeImages } = executor;
  let left = Math.min(limits.rows, limits.outputs);
  const unfed = running.reduce((sum, { sequence }) => sum + sequence.unfed, 0);
  const even = unfed <= left ? Infinity : Math.floor(left / running.length);
  const each = whole ? Infinity : Math.max(1, Math.min(chunk, even));
  const shares: { share: Share; running: Running }[] = [];
  for (const entry of running) {
    const { sequence } = entry;
    // An image that runs whole may have more rows than there is room for outputs.
    const most = shares.length === 0 ? limits.rows : left;
    const count = fittingTokens(sequence, { rows: each, most, wholeImages });
    if (count === 0 || count > most) continue;
    left -= count;
    const output = count === sequence.unfed;
    shares.push({ share: { sequence, count, output, draft: [] }, running: entry });
  }
  return shares.sort((a, b) => byRows(a.share, b.share));
}

/** Hands the rows of a step's output to their sequences. */
function distribute(
  rows: Float32Array,
  shares: readonly { share: Share; running: Running }[],
  wanted: WantedRows,
): void {
  const outputsOf = ({ sequence, count, output }: Share) =>
    wanted === "none"
      ? 0
      : wanted === "all"
      ? count
      : Number(wanted === "last" ? output : sequence.submitted === 0);
  const total = shares.reduce((sum, { share }) => sum + outputsOf(share), 0);
  const columns = total > 0 ? rows.length / total : 0;
  let at = 0;
  for (const { share, running } of shares) {
    const end = at + outputsOf(share) * columns;
    running.outputs.push(rows.slice(at, end));
    at = end;
  }
}

function concat(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
