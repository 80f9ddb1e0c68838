// Table look-ups by token or position, and the beginning of a step, which resolves its rows; with the
// plain reference.

import type { Buffer } from "../operation.ts";

/**
 * What stands in place of a token for the first row of the step's images, plus i for row i: more than
 * any token.
 */
export const IMAGE_TOKEN = 2 ** 30;

/** The buffers that carry a step's rows. */
export interface StepRows {
  /** [rows] of {@linkcode PLAN_ROW}, which the host writes. */
  plan: Buffer;
  /** [slots] of {@linkcode SLOT_TOKEN}, which the sampler leaves. */
  slots: Buffer;
  /** [rows] of {@linkcode STEP_ROW}: the plan with what is taken from slots. */
  rows: Buffer;
  /** Token at each position of each slot: [slots, context]. */
  history: Buffer;
  /** Positions per slot. */
  context: number;
}

/** How rows are looked up. */
export interface EmbedOptions {
  /** Default 1. */
  scale?: number;
  /** "step": by token, and resolves the rows of the step first. Default. */
  by?: "step" | "token" | "position";
  /** Adds to x instead of replacing it. */
  accumulate?: boolean;
  /** Whether rows of images read what token 0 reads. Default: their x is left alone. */
  standIn?: boolean;
}

/** The look-up in plain loops: table [vocabulary, columns]. */
export function embedReference(
  table: Float32Array,
  tokens: Uint32Array,
  columns: number,
): Float32Array {
  const x = new Float32Array(tokens.length * columns);
  tokens.forEach((token, row) => {
    x.set(table.subarray(token * columns, (token + 1) * columns), row * columns);
  });
  return x;
}
