// What the recurrent operations share: the step's sequences, and inputs that are columns of wider
// rows. The layouts of states are each operation's own.

import type { Buffer } from "../../operation.ts";
import type { FloatRows } from "../activation.ts";

/** The sequences of a step. */
export interface StepSegments {
  /** [rows] of {@linkcode STEP_ROW}. */
  rows: Buffer;
  /** [sequences] of {@linkcode STEP_SEGMENT}, in row order. */
  segments: Buffer;
}

/** Columns of rows, `first` and those after it: one projection feeds several kernels uncopied. */
export interface ColumnRange {
  readonly rows: FloatRows;
  readonly first: number;
}

/** softplus in double precision. */
export function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

/** sigmoid in double precision. */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
