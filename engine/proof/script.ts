// What is run to prove a device: steps of numbers of rows for which kernels differ, in an order in which
// a context grows over several blocks of the KV cache, and several sequences beside each other.

import { BLOCK } from "../../kernels/mod.ts";
import type { StepLimits, TokenRanges } from "../nn/mod.ts";
import {
  type Chunk,
  layOut,
  NO_MEMORY,
  Sequence,
  type StateFeed,
  type StepPlan,
  type StepRunner,
  type WantedRows,
} from "../run/mod.ts";

/** Rows of the steps of the first sequence: each class of products, and numbers that no tile divides. */
const ROWS = [5, 1, 2, 3, 4, 8, 9, 17, 72, 1];

/** Rows of each sequence in steps of several: of decoding ones, and of one that reads its prompt. */
const BESIDE = [[0, 7], [1, 1], [1, 1, 1], [1, 0, 6], [1, 1, 1, 1]];

/** Most rows of a step whose outputs are all wanted. A prompt wants that of its last row alone. */
const MOST_OUTPUTS = 9;

/** Runs of tokens by which tables of tokens are compared, from their first row to their last. */
const RUNS = 8;

/** Tokens of a run: as many as the largest tile of a product has rows. */
const RUN = 128;

/** A step: rows of each sequence, by the sequence's number. */
export interface ProofStep {
  readonly rows: readonly number[];
  readonly wanted: WantedRows;
}

/**
 * The steps of a proof.
 * @param isWhole whether a sequence has to run in one step, as in encoders: each step begins anew
 */
export function proofSteps(
  { rows, outputs, slots, context }: StepLimits,
  blocks: number,
  isWhole: boolean,
): ProofStep[] {
  const most = Math.min(rows, ROWS.reduce((a, b) => Math.max(a, b)));
  const steps: ProofStep[] = [];
  const fed: number[] = [];
  const add = (counts: readonly number[]) => {
    const sum = counts.reduce((a, b) => a + b);
    const ends = counts.map((count, i) => isWhole ? count : count + (fed[i] ?? 0));
    const taken = Array.from(
      { length: Math.max(ends.length, fed.length) },
      (_, i) => Math.ceil((ends[i] ?? fed[i] ?? 0) / BLOCK),
    );
    const fits = sum <= rows && ends.every((end) => end <= context) &&
      taken.reduce((a, b) => a + b) <= blocks;
    if (!fits) return;
    ends.forEach((end, i) => fed[i] = end);
    const wanted = sum <= Math.min(outputs, MOST_OUTPUTS) ? "all" : "last";
    steps.push({ rows: counts, wanted });
  };
  for (const count of ROWS) add([Math.min(count, most)]);
  for (const counts of BESIDE) if (!isWhole && counts.length <= slots) add(counts);
  return steps;
}

/**
 * Tokens that are enough to prove embeddings and head by, whose rows a device computes alike. These tables
 * are a quarter of a model of 1B, and would be two thirds of what the CPU has to compute.
 */
export function provedTokens(vocabulary: number): TokenRanges {
  if (vocabulary <= RUNS * RUN) return [[0, vocabulary]];
  return Array.from(
    { length: RUNS },
    (_, i) => [Math.floor(i * (vocabulary - RUN) / (RUNS - 1)), RUN] as const,
  );
}

/** How the sequences of a proof are made. */
export interface ProofSequenceOptions {
  /** The tokens of which they consist, in the numbers of the network that reads them. */
  readonly tokens: readonly number[];
  /** As in {@linkcode proofSteps}. */
  readonly isWhole: boolean;
}

/** Sequences of tokens of their own that are fed by the steps of a proof. */
export class ProofSequences implements Disposable {
  readonly #sequences: Sequence[];
  readonly #runner: StepRunner;
  readonly #states: StateFeed | undefined;
  readonly #isWhole: boolean;

  /** @param network reads them: see `ProvedNetwork` */
  constructor(
    { runner, states }: { readonly runner: StepRunner; readonly states?: StateFeed | undefined },
    steps: readonly ProofStep[],
    { tokens, isWhole }: ProofSequenceOptions,
  ) {
    this.#runner = runner;
    this.#states = states;
    this.#isWhole = isWhole;
    const count = Math.max(...steps.map(({ rows }) => rows.length));
    let block = 0;
    this.#sequences = Array.from({ length: count }, (_, slot) => {
      const numbers = steps.map(({ rows }) => rows[slot] ?? 0);
      const length = numbers.reduce((sum, rows) => isWhole ? Math.max(sum, rows) : sum + rows, 0);
      const own = tokensOf(slot, Math.max(1, length), tokens.length).map((at) => tokens[at]!);
      const sequence = proofSequence(own);
      sequence.hold({ ...NO_MEMORY, slot });
      const blocks = Array.from({ length: Math.ceil(length / BLOCK) }, () => block++);
      runner.memory.assignBlocks(slot, 0, blocks.reverse());
      states?.begin(sequence, 0);
      states?.add(sequence, 0, statesOf(slot, length * states.width));
      return sequence;
    });
  }

  /** Writes the rows of the next step. The result is its plan. */
  next({ rows, wanted }: ProofStep): StepPlan {
    const chunks = rows.flatMap((count, i): Chunk[] => {
      const sequence = this.#sequences[i]!;
      if (this.#isWhole) sequence.feedFrom(0);
      return count === 0 ? [] : [{ sequence, count, output: true, draft: [] }];
    });
    // Rows of decoding sequences come first.
    chunks.sort((a, b) => Math.min(a.count, 2) - Math.min(b.count, 2));
    const plan = layOut(chunks, this.#runner.tileRows, wanted);
    this.#states?.feed(chunks);
    this.#runner.write(plan);
    for (const { sequence, count } of chunks) sequence.advance(count);
    return plan;
  }

  [Symbol.dispose](): void {
    for (const sequence of this.#sequences) this.#states?.forget(sequence);
  }
}

/** A sequence of these tokens. */
export function proofSequence(prompt: readonly number[]): Sequence {
  return new Sequence({
    prompt,
    sampling: { temperature: 0 } as Sequence["request"]["sampling"],
    maxTokens: 0,
    accept: () => false,
    end: () => {},
  });
}

/** Tokens all over the vocabulary, others for each number. */
export function tokensOf(number: number, count: number, vocabulary: number): number[] {
  return Array.from({ length: count }, (_, i) => (7919 * (i + 1) + 104729 * number) % vocabulary);
}

/** States of about 1, others for each number. */
function statesOf(number: number, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => 1.5 * Math.sin(12.9898 * i + number));
}
