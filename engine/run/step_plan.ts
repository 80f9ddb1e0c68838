// A step's input and output. planner.ts makes plans, step_runner.ts runs them.

import type { StepShape } from "../nn/mod.ts";
import type { ImageRun } from "../prompt/mod.ts";

/** The largest number of tokens per submit. */
export const MOST_REPEATS = 8;

let versions = 0;

/** A version that no other plan has. */
export function nextVersion(): number {
  return ++versions;
}

/** The rows of a step and the tables that its kernels read. Rows of decoding sequences come first. */
export interface StepPlan {
  /** Plans of the same version have the same tables; only the context lengths in their shapes differ. */
  version: number;
  /**
   * [rows, 4]: token, position, slot, and twice the M-RoPE delta, plus 1 where token and
   * position are those that the slot remembers. Tokens from {@linkcode IMAGE_TOKEN} on number the rows
   * of images.
   */
  rows: Uint32Array<ArrayBuffer>;
  /** The images that those rows are of, in order. */
  images: readonly ImageRun[];
  /** [rows of images, 4]: their M-RoPE positions. */
  mropePositions: Uint32Array<ArrayBuffer>;
  /** Row of each output. */
  outputs: Uint32Array<ArrayBuffer>;
  /**
   * [tiles, 4] in prefill: first row, rows, positions of the sequence after this step, and up to the
   * end of the image that the rows are of, or 0.
   */
  prefillTiles: Uint32Array<ArrayBuffer>;
  /** [sequences, 4]: first row, rows, 0, 0. */
  segments: Uint32Array<ArrayBuffer>;
  shape: StepShape;
}

/** The results of a submit. */
export interface Sampled {
  /** [repeats, outputs] ids. */
  tokens: Uint32Array;
  /** By output, where they are wanted: [vocabulary], before penalties and masks. */
  logits: ReadonlyMap<number, Float32Array>;
}

/** The slot of each output. */
export function slotsOf({ outputs, rows }: StepPlan): number[] {
  return Array.from(outputs, (row) => rows[row * 4 + 2]!);
}

/** Whether commands that were recorded for one shape can run the other. */
export function isSameShape(a: StepShape, b: StepShape): boolean {
  return (Object.keys(a) as (keyof StepShape)[]).every((key) => a[key] === b[key]);
}
