// The plan of a step: which sequences decode and which prefill (chunked prefill, Agrawal et al. 2023),
// and in which rows and tiles. Pure arithmetic on sequences; nothing here touches a device.

import { type ImageRun, mropePosition } from "../prompt/mod.ts";
import type { Sequence } from "./sequence.ts";
import { nextVersion, type StepPlan } from "./step_plan.ts";

/** The tokens that one sequence feeds in a step. */
export interface Chunk {
  sequence: Sequence;
  /** How many tokens: one in decode. */
  count: number;
  /** Whether the step samples a token for the sequence. */
  output: boolean;
  /** The last of those that it feeds: guesses at what comes next. The step gives a token for each. */
  draft: readonly number[];
  /**
   * How many of the tokens that the step gives can be relied on, where that is not all: of what
   * follows a draft as far as its masks could be made.
   */
  reliable?: number;
}

/** How many rows a step may have. */
export interface StepBudget {
  /** Most rows. */
  rows: number;
  /** Most rows where an image has to run in one step. */
  most: number;
  /** Whether images have to run in one step. */
  wholeImages: boolean;
  /** The position past which a step must not feed a sequence. Default: none. */
  stop?: (sequence: Sequence) => number;
  /** Most tokens of drafts, and what may follow a sequence that is at its end. Default: none. */
  drafts?: number;
  draft?: (sequence: Sequence, most: number) => readonly number[];
}

/** How many tokens each running sequence feeds, those at their end first. At most `budget.rows` in all. */
export function chooseChunks(sequences: readonly Sequence[], budget: StepBudget): Chunk[] {
  const chunks: Chunk[] = [];
  let used = 0;
  const ending = sequences.filter(({ isAtEnd }) => isAtEnd);
  let drafts = Math.min(budget.drafts ?? 0, budget.rows - ending.length);
  for (const sequence of ending) {
    if (used >= budget.rows) continue;
    const draft = drafts > 0 ? budget.draft?.(sequence, drafts) ?? [] : [];
    drafts -= draft.length;
    const count = 1 + draft.length;
    chunks.push({ sequence, count, output: true, draft });
    used += count;
  }
  for (const sequence of sequences) {
    if (sequence.isAtEnd || used >= budget.rows) continue;
    const rows = budget.rows - used;
    const count = fittingTokens(sequence, { ...budget, rows, most: budget.most - used });
    if (count === 0) continue;
    const output = count === sequence.unfed;
    // What a constraint forced is fed with a draft of what follows it, as a token is.
    const most = Math.min(drafts, budget.rows - used - count);
    const draft = output && sequence.generated > 0 && most > 0 && budget.draft?.(sequence, most) ||
      [];
    drafts -= draft.length;
    chunks.push({ sequence, count: count + draft.length, output, draft });
    used += count + draft.length;
  }
  return chunks.sort(byRows);
}

/** The order of chunks in a step: those of one row come first, as decoding rows do. */
export function byRows(a: Chunk, b: Chunk): number {
  return Math.min(a.count, 2) - Math.min(b.count, 2);
}

/** How many tokens of a sequence fit into what is left of the budget of a step. */
export function fittingTokens(sequence: Sequence, budget: StepBudget): number {
  const { rows, most, wholeImages, stop = () => Infinity } = budget;
  const { submitted, unfed, runs } = sequence;
  const count = Math.min(unfed, rows, stop(sequence) - submitted);
  const { image, first, end } = runs.at(submitted + count);
  const isCut = image !== undefined && first < submitted + count;
  if (!wholeImages || !isCut) return count;
  if (first > submitted) return first - submitted;
  return end - submitted <= most ? end - submitted : 0;
}

/** Rows of a sequence whose output is wanted. */
export type WantedRows = "none" | "first" | "last" | "all";

/** The plan of these chunks. `wanted`: outputs of every row, of each sequence's first or last, or none. */
export function layOut(
  chunks: readonly Chunk[],
  tileRows: number,
  wanted: WantedRows = "last",
): StepPlan {
  const rowCount = chunks.reduce((sum, { count }) => sum + count, 0);
  const rows = new Uint32Array(rowCount * 4);
  const outputs: number[] = [];
  const tiles: number[] = [];
  const images: ImageRun[] = [];
  const mropePositions: number[] = [];
  const segments = new Uint32Array(chunks.length * 4);
  const shape = {
    rows: rowCount,
    sequences: chunks.length,
    imageRows: 0,
    outputs: 0,
    decodeRows: 0,
    decodeContext: 0,
    prefillTiles: 0,
    prefillContext: 0,
  };
  let row = 0;
  chunks.forEach(({ sequence, count, output, draft }, chunk) => {
    const { slot, submitted, tokens, runs } = sequence;
    const context = submitted + count;
    const decoding = sequence.decoding && draft.length === 0;
    const known = context - draft.length;
    segments.set([row, count], chunk * 4);
    if (count === 1) {
      shape.decodeRows++;
      shape.decodeContext = Math.max(shape.decodeContext, context);
    } else {
      shape.prefillContext = Math.max(shape.prefillContext, context);
    }
    for (let position = submitted; position < context;) {
      const run = runs.at(position);
      const end = Math.min(context, run.end);
      const { image, first, delta } = run;
      if (image) images.push({ image, first: position - first, count: end - position });
      for (let at = position; count > 1 && at < end; at += tileRows) {
        const imageEnd = image ? run.end : 0;
        tiles.push(row + at - position, Math.min(tileRows, end - at), context, imageEnd);
      }
      for (; position < end; position++, row++) {
        if (decoding) rows.set([0, 0, slot, 2 * delta + 1], row * 4);
        else if (image) {
          rows.set([tokens[position] + mropePositions.length / 4, position, slot, 0], row * 4);
          mropePositions.push(...mropePosition(run, position));
        } else {
          const token = position < known ? tokens[position] : draft[position - known];
          rows.set([token, position, slot, 2 * delta], row * 4);
        }
        const isWanted = wanted === "all" || (wanted === "first" && position === 0) ||
          (wanted === "last" && output && position >= known - 1);
        if (isWanted) outputs.push(row);
      }
    }
  });
  shape.imageRows = mropePositions.length / 4;
  shape.outputs = outputs.length;
  shape.prefillTiles = tiles.length / 4;
  return {
    version: nextVersion(),
    rows,
    images,
    mropePositions: Uint32Array.from(mropePositions),
    outputs: Uint32Array.from(outputs),
    prefillTiles: Uint32Array.from(tiles),
    segments,
    shape,
  };
}
