// What the recurrent operations share: the sequences of a step, and inputs that are columns of
// wider rows. Each operation defines the layout of its state.

import type { Buffer } from "../../operation.ts";
import type { FloatRows } from "../activation.ts";

/** The sequences of a step. */
export interface StepSegments {
  /** The rows of the step: [rows] of {@linkcode STEP_ROW}. */
  rows: Buffer;
  /** A segment for each sequence, in order of rows: [sequences] of {@linkcode STEP_SEGMENT}. */
  segments: Buffer;
}

/**
 * The columns of rows from `first` on, so that several kernels can read the result of one
 * projection.
 */
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
