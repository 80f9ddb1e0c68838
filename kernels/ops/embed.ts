// Table look-ups by token or position, and the beginning of a step, which resolves its rows; with
// the plain reference.

import type { Buffer } from "../operation.ts";

/**
 * The "token" of the first image row of a step. Image row i has this number plus i. It is larger
 * than any token.
 */
export const MEDIA_TOKEN = 2 ** 30;

/** The buffers of a step's rows. */
export interface StepRows {
  /** The rows as planned: [rows] of {@linkcode PLAN_ROW}, which the host writes. */
  plan: Buffer;
  /** The last token of each slot: [slots] of {@linkcode SLOT_TOKEN}, which the sampler writes. */
  slots: Buffer;
  /**
   * The rows as resolved: [rows] of {@linkcode STEP_ROW}, the plan with tokens and positions from
   * slots.
   */
  rows: Buffer;
  /** Token at each position of each slot: [slots, context]. */
  history: Buffer;
  /** Positions per slot. */
  context: number;
}

/** The options of a look-up. */
export interface EmbedOptions {
  /** Default 1. */
  scale?: number;
  /**
   * What selects a row of the table. "step", the default, is by token, and resolves the rows of the
   * step before.
   */
  by?: "step" | "token" | "position";
  /** Whether to add to x instead of replacing it. */
  accumulate?: boolean;
  /** Whether rows of images get the row of token 0. Default: their x is not changed. */
  standIn?: boolean;
}

/** The plain reference: table [vocabulary, columns]. */
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
