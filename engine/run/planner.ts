// The plan of a step: which sequences decode and which prefill (chunked prefill, Agrawal et al. 2023),
// and in which rows and tiles. Pure arithmetic on sequences; nothing here touches a device.

import { PLAN_ROW, QUERY_TILE, STEP_SEGMENT } from "../../kernels/mod.ts";
import { type MediaRun, mropePosition } from "../prompt/mod.ts";
import type { Sequence } from "./sequence.ts";
import { nextVersion, type StepPlan } from "./step_plan.ts";

/** The tokens that one sequence feeds in a step. */
export interface Chunk {
  sequence: Sequence;
  /** Number of tokens: one in decode. */
  count: number;
  /** Whether the step samples a token for the sequence. */
  output: boolean;
  /** The last of these tokens, which are drafts. The step samples a token after each. */
  draft: readonly number[];
  /**
   * Number of the sampled tokens that count, if not all: those after the tokens of a draft for which
   * masks could be made.
   */
  reliable?: number;
  /** Rows whose output is wanted. Default: what the whole step asks for. */
  wanted?: WantedRows;
  /** Positions of the sequence that are submitted with this step; set when it is submitted. */
  end?: number;
}

/** The limits of a step. */
export interface StepBudget {
  /** Most rows. */
  rows: number;
  /** Most rows where an image has to run in one step. */
  most: number;
  /** Whether rows of an image attend to each other in both directions: an image runs in one step. */
  bidirectionalImages: boolean;
  /** The position past which a step must not feed a sequence. Default: none. */
  stop?: (sequence: Sequence) => number;
  /** Most tokens of drafts, and the draft of a sequence that is at its end. Default: none. */
  drafts?: number;
  draft?: (sequence: Sequence, most: number) => readonly number[];
}

/** The tokens that each running sequence feeds, at most `budget.rows`; sequences at their end come first. */
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
    // Tokens that a constraint forced may be followed by a draft, as a sampled token may.
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

/** Number of a sequence's tokens that fit into the rest of a step's budget. */
export function fittingTokens(sequence: Sequence, budget: StepBudget): number {
  const { rows, most, bidirectionalImages, stop = () => Infinity } = budget;
  const { submitted, unfed, runs } = sequence;
  const count = Math.min(unfed, rows, stop(sequence) - submitted);
  const { media, first, end } = runs.at(submitted + count);
  const isCut = media !== undefined && !media.isCausal && first < submitted + count;
  if (!bidirectionalImages || !isCut) return count;
  if (first > submitted) return first - submitted;
  return end - submitted <= most ? end - submitted : 0;
}

/** Rows of a sequence whose output is wanted. A number: those from this position on. */
export type WantedRows = "none" | "first" | "last" | "all" | number;

/** The plan of these chunks. @param everywhere the outputs of chunks that do not say which they want */
export function layOut(
  chunks: readonly Chunk[],
  tileRows: number,
  everywhere: WantedRows = "last",
): StepPlan {
  const rowCount = chunks.reduce((sum, { count }) => sum + count, 0);
  const rows = new Uint32Array(rowCount * PLAN_ROW.words);
  const planned = PLAN_ROW.word;
  const outputs: number[] = [];
  const tiles = QUERY_TILE.list(chunks.length);
  const media: MediaRun[] = [];
  const segments = STEP_SEGMENT.list(chunks.length);
  const shape = {
    rows: rowCount,
    sequences: chunks.length,
    mediaRows: 0,
    outputs: 0,
    decodeRows: 0,
    decodeContext: 0,
    prefillTiles: 0,
    prefillContext: 0,
    adapters: 0,
  };
  const adapterScales = scalesOf(chunks, rowCount);
  let row = 0;
  for (const { sequence, count, output, draft, wanted = everywhere } of chunks) {
    const { submitted, tokens, runs, memory: { slot } } = sequence;
    const context = submitted + count;
    const decoding = sequence.decoding && draft.length === 0;
    const known = context - draft.length;
    segments.add({ firstRow: row, rows: count });
    const { adapters = [] } = sequence.request;
    adapters.forEach((scale, adapter) => {
      if (scale === 0) return;
      shape.adapters |= 1 << adapter;
      for (let i = row; i < row + count; i++) adapterScales![i * adapters.length + adapter] = scale;
    });
    if (count === 1) {
      shape.decodeRows++;
      shape.decodeContext = Math.max(shape.decodeContext, context);
    } else {
      shape.prefillContext = Math.max(shape.prefillContext, context);
    }
    for (let position = submitted; position < context;) {
      const run = runs.at(position);
      const end = Math.min(context, run.end);
      const { media: item, first } = run;
      if (item) media.push({ media: item, first: position - first, count: end - position });
      for (let at = position; count > 1 && at < end; at += tileRows) {
        const imageEnd = item && !item.isCausal ? run.end : 0;
        const firstRow = row + at - position;
        tiles.add({ firstRow, rows: Math.min(tileRows, end - at), end: context, imageEnd });
      }
      for (; position < end; position++, row++) {
        const at = row * PLAN_ROW.words;
        rows[at + planned.slot] = slot;
        const { time, height, width } = mropePosition(run, position);
        rows[at + planned.timeDelta] = position - time;
        rows[at + planned.heightDelta] = position - height;
        rows[at + planned.widthDelta] = position - width;
        if (decoding) rows[at + planned.inSlot] = 1;
        else {
          const token = position < known ? tokens[position] : draft[position - known];
          rows[at + planned.token] = item ? token + shape.mediaRows++ : token;
          rows[at + planned.position] = position;
        }
        const isWanted = wanted === "all" || (wanted === "first" && position === 0) ||
          (wanted === "last" && output && position >= known - 1) ||
          (typeof wanted === "number" && position >= wanted);
        if (isWanted) outputs.push(row);
      }
    }
  }
  shape.outputs = outputs.length;
  shape.prefillTiles = tiles.count;
  return {
    version: nextVersion(),
    rows,
    media,
    outputs: Uint32Array.from(outputs),
    prefillTiles: tiles.packed,
    segments: segments.packed,
    ...(adapterScales && { adapterScales }),
    shape,
  };
}

/** Zeros for the factors of a step's rows, if a sequence has adapters: [rows, adapters]. */
function scalesOf(chunks: readonly Chunk[], rows: number): Float32Array<ArrayBuffer> | undefined {
  const counts = chunks.map(({ sequence: { request } }) => request.adapters?.length ?? 0);
  const count = Math.max(0, ...counts);
  return count > 0 ? new Float32Array(rows * count) : undefined;
}
