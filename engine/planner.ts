// Lays out the rows of one step: which sequences decode, which prefill, in which rows and tiles.
// Pure arithmetic on sequences; nothing here touches the GPU.

import type { Sequence } from "./sequence.ts";
import type { StepPlan } from "./step_plan.ts";

/** A sequence's part of a step. */
export interface Share {
  sequence: Sequence;
  /** Tokens it feeds in this step: one in decode. */
  count: number;
  /** Whether the step gives it a token. */
  output: boolean;
}

/** How many tokens each running sequence feeds, decoding ones first. At most `rows` in all. */
export function shareOut(sequences: readonly Sequence[], rows: number): Share[] {
  const shares: Share[] = [];
  let left = rows;
  for (const sequence of sequences) {
    if (!sequence.decoding || left === 0) continue;
    shares.push({ sequence, count: 1, output: true });
    left--;
  }
  for (const sequence of sequences) {
    if (sequence.decoding || left === 0) continue;
    const unfed = sequence.tokens.length - sequence.submitted;
    const count = Math.min(unfed, left);
    shares.push({ sequence, count, output: count === unfed });
    left -= count;
  }
  // A single row attends as a decoding row does, whether or not its token is known.
  return shares.sort((a, b) => Math.min(a.count, 2) - Math.min(b.count, 2));
}

/** Rows of a sequence whose output is wanted. */
export type WantedRows = "none" | "first" | "last" | "all";

/** The plan of these shares. `wanted`: outputs of every row, of each sequence's first or last, or none. */
export function layOut(
  shares: readonly Share[],
  tileRows: number,
  wanted: WantedRows = "last",
): StepPlan {
  const rowCount = shares.reduce((sum, { count }) => sum + count, 0);
  const rows = new Uint32Array(rowCount * 4);
  const outputs: number[] = [];
  const tiles: number[] = [];
  const segments = new Uint32Array(shares.length * 4);
  const shape = {
    rows: rowCount,
    sequences: shares.length,
    outputs: 0,
    decodeRows: 0,
    decodeContext: 0,
    prefillTiles: 0,
    prefillContext: 0,
  };
  let row = 0;
  shares.forEach(({ sequence, count, output }, share) => {
    const { slot, submitted, decoding, tokens } = sequence;
    const context = submitted + count;
    segments.set([row, count], share * 4);
    if (count === 1) {
      shape.decodeRows++;
      shape.decodeContext = Math.max(shape.decodeContext, context);
    } else {
      shape.prefillContext = Math.max(shape.prefillContext, context);
      for (let i = 0; i < count; i += tileRows) {
        tiles.push(row + i, Math.min(tileRows, count - i), context, 0);
      }
    }
    for (let i = 0; i < count; i++, row++) {
      const known = decoding ? [0, 0, slot, 1] : [tokens[submitted + i], submitted + i, slot, 0];
      rows.set(known, row * 4);
      const isWanted = wanted === "all" || (wanted === "first" && submitted + i === 0) ||
        (wanted === "last" && output && i === count - 1);
      if (isWanted) outputs.push(row);
    }
  });
  shape.outputs = outputs.length;
  shape.prefillTiles = tiles.length / 4;
  return {
    rows,
    outputs: Uint32Array.from(outputs),
    prefillTiles: Uint32Array.from(tiles),
    segments,
    shape,
  };
}
