// Evaluates whole sequences instead of continuing them: the logits of every position, or hidden states
// for embeddings. A step takes as many sequences as fit, but not so many that sequences which decode
// wait too long. Each step takes the device's lock anew, so that they decode in between.

import { isCancelled, throwIfCancelled } from "../cancellation.ts";
import type { OutputKind } from "../nn/mod.ts";
import type { PromptItem } from "../prompt/mod.ts";
import { byRows, type Chunk, fittingTokens, layOut, type WantedRows } from "./planner.ts";
import { Sequence } from "./sequence.ts";
import type { SequencePool } from "./sequence_pool.ts";
import { nextVersion, type StepPlan } from "./step_plan.ts";
import type { StepExecutor } from "./step_executor.ts";

/** The sequences to run, and the outputs to read. */
export interface Evaluation {
  /** Tokens and images of each sequence, at least one. */
  sequences: readonly (readonly PromptItem[])[];
  /** Tokens before each sequence. They are run once, and all sequences share their memory. */
  prefix?: readonly PromptItem[];
  output: OutputKind;
  /** Positions whose output is wanted. */
  wanted: WantedRows;
  /** Most tokens of a sequence per step; default as many as a step holds. */
  chunkSize?: number | undefined;
  /** Whether a sequence has to run in one step, because its tokens attend to later ones. */
  whole?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Runs a part of an evaluation while it holds the lock of the device. A part returns false if there was
 * no memory for a sequence; then it runs again when some is free.
 */
export type RunLocked = (part: () => Promise<boolean>) => Promise<void>;

/** The pace of evaluations: it measures their steps, and limits the next one. */
export interface EvaluationPace {
  /** Most rows of the next step: at most `most`, and fewer if sequences decode. */
  rows(most: number): number;
  /** A step begins. */
  begin(): void;
  /** A step of this number of rows has ended. */
  end(rows: number): void;
}

/** A sequence and its outputs. */
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
  runLocked: RunLocked,
  pace: EvaluationPace,
): Promise<Float32Array[]> {
  const { prefix = [], sequences } = evaluation;
  const [trunk, ...all] = [[], ...sequences].map((tokens): Running => ({
    sequence: new Sequence({ ...NOTHING_TO_SAMPLE, prompt: [...prefix, ...tokens] }),
    outputs: [],
  }));
  const waiting = [...all];
  const feed = async (running: readonly Running[], { wanted }: Pick<Evaluation, "wanted">) => {
    const chunks = chooseEvenChunks(running, executor, evaluation, pace);
    pace.begin();
    await step(executor, chunks, { ...evaluation, wanted });
    pace.end(chunks.reduce((sum, { chunk }) => sum + chunk.count, 0));
  };
  let running: Running[] = [];
  const admit = () => {
    while (waiting.length > 0 && start(pool, trunk.sequence, waiting[0].sequence)) {
      running.push(waiting.shift()!);
    }
  };
  try {
    while (trunk.sequence.submitted < trunk.sequence.tokens.length) {
      await runLocked(async () => {
        const { sequence } = trunk;
        if (sequence.memory.slot < 0 && !pool.take(sequence, sequence.tokens.length)) return false;
        await feed([trunk], { wanted: "none" });
        return true;
      });
    }
    while (waiting.length + running.length > 0) {
      await runLocked(async () => {
        admit();
        if (running.length === 0) return false;
        await feed(running, evaluation);
        for (const { sequence } of running) {
          if (sequence.submitted === sequence.tokens.length) pool.release(sequence);
        }
        running = running.filter(({ sequence }) => sequence.memory.slot >= 0);
        admit(); // Now, before other sequences take the memory that was just freed.
        return true;
      });
    }
    return all.map(({ outputs }) => concat(outputs));
  } finally {
    for (const { sequence } of [trunk, ...running]) pool.release(sequence);
  }
}

/** Gives a sequence its memory, which begins with that of the prefix; false if there is too little. */
function start(pool: SequencePool, trunk: Sequence, sequence: Sequence): boolean {
  if (trunk.submitted === 0) return pool.take(sequence, sequence.tokens.length);
  if (!pool.fork(trunk, sequence)) return false;
  if (pool.grow(sequence, sequence.tokens.length)) return true;
  pool.release(sequence);
  return false;
}

async function step(
  executor: StepExecutor,
  chunks: readonly { chunk: Chunk; running: Running }[],
  { output, wanted, signal }: Evaluation,
): Promise<void> {
  if (chunks.length === 0) throw new RangeError("Cannot evaluate: a sequence fits no step");
  const plan = layOut(chunks.map(({ chunk }) => chunk), executor.tileRows, wanted);
  const isUnwanted = () => isCancelled(signal);
  const evaluate: StepExecutor["evaluate"] = async (plan, output) => {
    const outputs = await executor.evaluate(plan, output, isUnwanted);
    throwIfCancelled(signal); // The rest of the step may have been left out.
    return outputs;
  };
  distribute(await evaluateStep(evaluate, executor.limits.outputs, plan, output), chunks, wanted);
  for (const { chunk } of chunks) chunk.sequence.advance(chunk.count);
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
  let left = pace.rows(Math.min(limits.rows, limits.outputs));
  const unfed = running.reduce((sum, { sequence }) => sum + sequence.unfed, 0);
  const fits = unfed <= left;
  const chunks: { chunk: Chunk; running: Running }[] = [];
  for (const [index, entry] of running.entries()) {
    const even = fits ? Infinity : Math.ceil(left / (running.length - index));
    const each = whole ? Infinity : Math.max(1, Math.min(chunkSize, even));
    const { sequence } = entry;
    // An image that runs whole may have more rows than a step has outputs.
    const most = chunks.length === 0 ? limits.rows : left;
    const count = fittingTokens(sequence, { rows: each, most, bidirectionalImages });
    if (count === 0 || count > most) continue;
    left -= count;
    const output = count === sequence.unfed;
    chunks.push({ chunk: { sequence, count, output, draft: [] }, running: entry });
  }
  return chunks.sort((a, b) => byRows(a.chunk, b.chunk));
}

/** Copies the rows of a step's output to the outputs of their sequences. */
function distribute(
  rows: Float32Array,
  chunks: readonly { chunk: Chunk; running: Running }[],
  wanted: WantedRows,
): void {
  const outputsOf = ({ sequence, count, output }: Chunk) =>
    wanted === "none"
      ? 0
      : wanted === "all"
      ? count
      : Number(wanted === "last" ? output : sequence.submitted === 0);
  const total = chunks.reduce((sum, { chunk }) => sum + outputsOf(chunk), 0);
  const columns = total > 0 ? rows.length / total : 0;
  let at = 0;
  for (const { chunk, running } of chunks) {
    const end = at + outputsOf(chunk) * columns;
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
