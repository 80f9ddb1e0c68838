// Evaluates whole sequences instead of continuing them: the logits of positions, or hidden states for
// embeddings. Sequences that begin alike are branches of a tree, whose common tokens run once. A step
// takes as many sequences as fit, but not so many that sequences which decode wait too long. Each step
// takes the device's lock anew, so that they decode in between.

import { CancelledError, isCancelled, throwIfCancelled } from "../cancellation.ts";
import type { OutputKind } from "../nn/mod.ts";
import type { PromptItem } from "../prompt/mod.ts";
import { byRows, type Chunk, fittingTokens, layOut, type WantedRows } from "./planner.ts";
import type { PacedStep } from "./prompt_pace.ts";
import { Sequence } from "./sequence.ts";
import type { SequencePool } from "./sequence_pool.ts";
import { nextVersion, type StepPlan } from "./step_plan.ts";
import type { StepExecutor } from "./step_executor.ts";

/** Tokens to run. */
export interface Branch {
  /** Tokens and images, at least one. */
  tokens: readonly PromptItem[];
  /**
   * Index of the branch whose tokens, and those before them, precede these: an earlier one. They share
   * its memory. Default: none, the sequence begins here.
   */
  after?: number | undefined;
  /** Positions whose output is wanted. */
  wanted: WantedRows;
}

/** The sequences to run, and the outputs to read. */
export interface Evaluation {
  /** At most as many may follow on one another as {@linkcode StepLimits.slots}. */
  branches: readonly Branch[];
  output: OutputKind;
  /** The factor of each of the model's adapters. Undefined: there are none. */
  adapters?: readonly number[] | undefined;
  /**
   * Takes the output of a position, [columns], which is valid during the call. Without it, the outputs of
   * all wanted positions are kept and returned together.
   */
  take?: (row: Float32Array, branch: number, position: number) => void;
  /** Most tokens of a sequence per step; default as many as a step holds. */
  chunkSize?: number | undefined;
  /**
   * Whether what is in the prefix cache before the first wanted output need not run, and what runs is
   * put there; not of a model that reads whole texts. Default false: each token runs.
   */
  reuses?: boolean | undefined;
  /** Whether a sequence has to run in one step, because its tokens attend to later ones. */
  whole?: boolean | undefined;
  /**
   * Most tokens of evaluations that may run in one step with it, if it has `take` and no branch that
   * follows another; see {@linkcode EvaluationQueue}. Default: it runs alone.
   */
  joins?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Whether nobody wants it any more, as a signal tells for a single request. */
  isUnwanted?: () => boolean;
  /** Called with the sequences before anything runs. */
  watch?: (sequences: readonly Sequence[]) => void;
}

/**
 * Runs a part of an evaluation while it holds the lock of the device. A part returns false if there was
 * no memory for a sequence; then it runs again when some is free.
 */
export type RunLocked = (part: () => Promise<boolean>) => Promise<void>;

/** The pace of evaluations: it measures their steps, and limits the next one. */
export interface EvaluationPace {
  /** Most rows of the next step: at most those of a step, and fewer if sequences decode. */
  rows(step: PacedStep): number;
  /** A step begins. */
  begin(): void;
  /** It has ended. */
  end(step: PacedStep): void;
}

/** A branch, and what becomes of it. */
interface Running {
  readonly index: number;
  readonly wanted: WantedRows;
  /** Undefined: it is at the beginning. */
  readonly parent: Running | undefined;
  readonly sequence: Sequence;
  readonly branches: Running[];
  /** Branches that are yet to begin. Only when all have begun, its own memory can go. */
  unbegun: number;
  /** Most branches that follow on one another after this one, and tokens up to the last of them. */
  height: number;
  deepest: number;
  readonly outputs: Float32Array[];
}

const NOTHING_TO_SAMPLE = {
  sampling: { temperature: 0 } as Sequence["request"]["sampling"],
  maxTokens: 0,
  accept: () => false,
  end: () => {},
  // What it leaves in the cache goes before what conversations have there.
  background: true,
};

/** The outputs of each branch: [wanted positions, columns]. Errors: the signal's reason. */
export async function evaluate(
  executor: StepExecutor,
  pool: SequencePool,
  evaluation: Evaluation,
  runLocked: RunLocked,
  pace: EvaluationPace,
): Promise<Float32Array[]> {
  const all = makeTree(evaluation);
  /** Those whose parent has run. The last is the next: a branch comes to its end before others begin. */
  const ready = all.filter(({ parent }) => !parent).reverse();
  const holding = new Set<Running>();
  evaluation.watch?.(all.map(({ sequence }) => sequence));
  let running: Running[] = [];
  const release = (one: Running) => {
    pool.release(one.sequence);
    holding.delete(one);
  };
  const admit = () => {
    const canBegin = (one: Running) => begin(executor, pool, one, evaluation.reuses ?? false);
    for (let next = ready.at(-1); next && canBegin(next); next = ready.at(-1)) {
      holding.add(next);
      running.push(ready.pop()!);
      if (next.parent && --next.parent.unbegun === 0) release(next.parent);
    }
  };
  try {
    while (ready.length + running.length > 0) {
      await runLocked(async () => {
        admit();
        if (running.length === 0) return false;
        const chunks = chooseEvenChunks(running, executor, evaluation, pace);
        const context = furthest(running);
        pace.begin();
        await step(executor, chunks, evaluation);
        pace.end({ rows: chunks.reduce((sum, { chunk }) => sum + chunk.count, 0), context });
        const ended = running.filter(({ sequence }) => sequence.unfed === 0);
        running = running.filter(({ sequence }) => sequence.unfed > 0);
        for (const one of ended) {
          if (evaluation.reuses) pool.publish(one.sequence);
          if (one.branches.length === 0) release(one);
          ready.push(...one.branches.toReversed());
        }
        admit(); // Now, before other sequences take the memory that was just freed.
        return true;
      });
    }
    return all.map(({ outputs }) => concat(outputs));
  } finally {
    for (const one of [...holding]) release(one);
  }
}

function makeTree({ branches, adapters }: Evaluation): Running[] {
  const all: Running[] = [];
  const prompts: PromptItem[][] = [];
  for (const [index, { tokens, after, wanted }] of branches.entries()) {
    const parent = after === undefined ? undefined : all[after]!;
    const prompt = [...after === undefined ? [] : prompts[after]!, ...tokens];
    prompts.push(prompt);
    const sequence = new Sequence({ ...NOTHING_TO_SAMPLE, prompt, adapters });
    const deepest = sequence.tokens.length;
    const one = { index, wanted, parent, sequence, branches: [], unbegun: 0, height: 0, deepest };
    all.push({ ...one, outputs: [] });
  }
  for (const one of all.toReversed()) {
    const { parent } = one;
    if (!parent) continue;
    parent.branches.unshift(one);
    parent.unbegun++;
    parent.height = Math.max(parent.height, one.height + 1);
    parent.deepest = Math.max(parent.deepest, one.deepest);
  }
  return all;
}

/**
 * Gives a branch its memory, which begins with that of its parent; false if there is too little. One that
 * others follow only begins if there is enough for the longest of them, too: whatever begins after it
 * gives its memory back, so that all come to their end.
 */
function begin(
  executor: StepExecutor,
  pool: SequencePool,
  one: Running,
  reuses: boolean,
): boolean {
  const { sequence, parent, height, deepest } = one;
  const { free, idle } = pool.blockCounts;
  const shared = parent?.sequence.submitted ?? 0;
  const wanted = executor.blocksFor(deepest - shared) + height + 1;
  if (height > 0 && (pool.freeSlots <= height || free + idle < wanted)) return false;
  if (!parent) return pool.takeKnown(sequence, reuses ? unwantedTokens(one) : 0);
  if (!pool.fork(parent.sequence, sequence)) return false;
  if (pool.grow(sequence, sequence.tokens.length)) return true;
  pool.release(sequence);
  return false;
}

/** Tokens at the beginning of a sequence whose outputs nobody wants; at least one is left to run. */
function unwantedTokens({ sequence: { tokens: { length } }, wanted }: Running): number {
  if (typeof wanted === "number") return Math.min(wanted, length - 1);
  return wanted === "none" || wanted === "last" ? length - 1 : 0;
}

async function step(
  executor: StepExecutor,
  chunks: readonly { chunk: Chunk; running: Running }[],
  { output, take, signal, isUnwanted: isLeft = () => false }: Evaluation,
): Promise<void> {
  if (chunks.length === 0) throw new RangeError("Cannot evaluate: a sequence fits no step");
  const plan = layOut(chunks.map(({ chunk }) => chunk), executor.tileRows);
  const isUnwanted = () => isCancelled(signal) || isLeft();
  const evaluate: StepExecutor["evaluate"] = async (plan, output) => {
    const outputs = await executor.evaluate(plan, output, isUnwanted);
    throwIfCancelled(signal); // The rest of the step may have been left out.
    if (isLeft()) throw new CancelledError();
    return outputs;
  };
  distribute(await evaluateStep(evaluate, executor.limits.outputs, plan, output), chunks, take);
  for (const { chunk: { sequence, count } } of chunks) {
    if (executor.isTapped) sequence.keepPrivate();
    sequence.advance(count);
  }
}

/** The outputs of a step. The step runs several times if it has more outputs than fit (whole images). */
async function evaluateStep(
  evaluate: StepExecutor["evaluate"],
  most: number,
  plan: StepPlan,
  output: OutputKind,
): Promise<Float32Array> {
  if (plan.outputs.length <= most) return await evaluate(plan, output);
  const parts: Float32Array[] = [];
  for (let first = 0; first < plan.outputs.length; first += most) {
    const outputs = plan.outputs.slice(first, first + most);
    const shape = { ...plan.shape, outputs: outputs.length };
    parts.push(await evaluate({ ...plan, version: nextVersion(), outputs, shape }, output));
  }
  return concat(parts);
}

/**
 * The chunks of the next step: all tokens of all sequences if they fit, else as many tokens of each. A
 * sequence that has to run whole does, however long others wait for it.
 */
function chooseEvenChunks(
  running: readonly Running[],
  executor: StepExecutor,
  { chunkSize = Infinity, whole = false }: Evaluation,
  pace: EvaluationPace,
): { chunk: Chunk; running: Running }[] {
  const { limits, bidirectionalImages } = executor;
  let left = pace.rows({ rows: limits.rows, context: furthest(running) });
  let { outputs } = limits;
  const unfed = running.reduce((sum, { sequence }) => sum + sequence.unfed, 0);
  const fits = unfed <= left;
  const chunks: { chunk: Chunk; running: Running }[] = [];
  for (const [index, entry] of running.entries()) {
    const even = fits ? Infinity : Math.ceil(left / (running.length - index));
    const { sequence, wanted } = entry;
    const fitting = fittingOutputs(sequence, wanted, outputs);
    const each = whole ? Infinity : Math.min(fitting, Math.max(1, Math.min(chunkSize, even)));
    // An image that runs whole may have more rows than a step has outputs.
    const most = chunks.length === 0 ? limits.rows : left;
    const count = fittingTokens(sequence, { rows: each, most, bidirectionalImages });
    if (count === 0 || count > most) continue;
    const chunk = { sequence, count, output: count === sequence.unfed, draft: [], wanted };
    left -= count;
    outputs = Math.max(0, outputs - outputsOf(chunk));
    chunks.push({ chunk, running: entry });
  }
  return chunks.sort((a, b) => byRows(a.chunk, b.chunk));
}

/** Positions before the furthest of the next rows of some branches. */
function furthest(running: readonly Running[]): number {
  return Math.max(0, ...running.map(({ sequence: { submitted } }) => submitted));
}

/** Most tokens of a sequence whose wanted outputs are at most this many. */
function fittingOutputs({ submitted }: Sequence, wanted: WantedRows, outputs: number): number {
  if (wanted === "all") return outputs;
  if (typeof wanted === "number") return Math.max(0, wanted - submitted) + outputs;
  return outputs > 0 || wanted === "none" ? Infinity : 0;
}

/** Number of the outputs that a step gives for a chunk. */
function outputsOf({ sequence: { submitted }, count, output, wanted }: Chunk): number {
  if (typeof wanted === "number") return Math.max(0, Math.min(count, submitted + count - wanted));
  return wanted === "all"
    ? count
    : Number(wanted === "last" ? output : wanted === "first" && submitted === 0);
}

/** Gives the rows of a step's output to those who want them, or keeps them for the end. */
function distribute(
  rows: Float32Array,
  chunks: readonly { chunk: Chunk; running: Running }[],
  take: Evaluation["take"],
): void {
  const total = chunks.reduce((sum, { chunk }) => sum + outputsOf(chunk), 0);
  const columns = total > 0 ? rows.length / total : 0;
  let at = 0;
  for (const { chunk, running: { index, outputs } } of chunks) {
    const count = outputsOf(chunk);
    const own = rows.subarray(at, at += count * columns);
    if (!take) outputs.push(own.slice());
    const first = chunk.wanted === "first" ? 0 : chunk.sequence.submitted + chunk.count - count;
    for (let i = 0; take && i < count; i++) {
      take(own.subarray(i * columns, (i + 1) * columns), index, first + i);
    }
  }
}

/** Rows one after the other, in memory of their own. */
export function concat(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
