// What goes into a step and what comes out of it. planner.ts lays plans out, step_runner.ts runs them.

import type { StepShape } from "../nn/mod.ts";
import type { ImageRun } from "../prompt/mod.ts";

/** The largest number of tokens per submit. */
export const MOST_REPEATS = 8;

let versions = 0;

/** A version that no other plan has. */
export function nextVersion(): number {
  return ++versions;
}

/** What a step does. Rows of decoding sequences come first. */
export interface StepPlan {
  /** Plans of one version differ in the contexts of their shapes alone: all that is written is the same. */
  version: number;
  /**
   * [rows, 4]: token, position, slot, and twice the M-RoPE delta, plus 1 where token and
   * position are the slot's. What comes after {@linkcode IMAGE_TOKEN} counts the rows of images.
   */
  rows: Uint32Array<ArrayBuffer>;
  /** Whose rows those are, in order. */
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

/** What came of a submit. */
export interface Sampled {
  /** [repeats, outputs] ids. */
  tokens: Uint32Array;
  /** By slot, where they are wanted: [vocabulary], before penalties and masks. */
  logits: ReadonlyMap<number, Float32Array>;
}

/** The slot of each output. */
export function slotsOf({ outputs, rows }: StepPlan): number[] {
  return Array.from(outputs, (row) => rows[row * 4 + 2]!);
}

/** Whether what one shape recorded fits the other. */
export function isSameShape(a: StepShape, b: StepShape): boolean {
  return (Object.keys(a) as (keyof StepShape)[]).every((key) => a[key] === b[key]);
}
