// A step's input and output. planner.ts makes plans, step_runner.ts runs them.

import { MEDIA_TOKEN, PLAN_ROW, type SamplingNeeds, STEP_ROW } from "../../kernels/mod.ts";
import type { StepShape } from "../nn/mod.ts";
import type { MediaRun } from "../prompt/mod.ts";
import type { StepRow } from "./observation.ts";

/** The largest number of tokens per submit. */
export const MOST_REPEATS = 8;

let versions = 0;

/** A version number that no other plan has. */
export function nextVersion(): number {
  return ++versions;
}

/** The rows of a step and the tables that its kernels read. Rows of decoding sequences come first. */
export interface StepPlan {
  /** Plans of the same version have the same tables; only the context lengths in their shapes differ. */
  version: number;
  /** [rows] of {@linkcode PLAN_ROW}. */
  rows: Uint32Array<ArrayBuffer>;
  /** The images and sounds that those rows are of, in order. */
  media: readonly MediaRun[];
  /** Row of each output. */
  outputs: Uint32Array<ArrayBuffer>;
  /** [tiles] of {@linkcode QUERY_TILE}, of the rows in prefill. */
  prefillTiles: Uint32Array<ArrayBuffer>;
  /** [sequences] of {@linkcode STEP_SEGMENT}. */
  segments: Uint32Array<ArrayBuffer>;
  /** Factors of the adapters for each row: [rows, adapters]. Missing: no sequence has one. */
  adapterScales?: Float32Array<ArrayBuffer>;
  shape: StepShape;
}

/** The results of a submit. */
export interface Sampled {
  /** [repeats, outputs] ids. */
  tokens: Uint32Array;
  /** By output, where they are wanted: [vocabulary], before penalties and masks. */
  logits: ReadonlyMap<number, Float32Array>;
  /**
   * The hidden states before the head, where the network keeps them: [repeats, rows, width]. Missing
   * for observed steps.
   */
  states?: Float32Array;
}

/** The slot of each output. */
export function slotsOf({ outputs, rows }: StepPlan): number[] {
  return Array.from(outputs, (row) => rows[row * PLAN_ROW.words + PLAN_ROW.word.slot]!);
}

/** The token, position and slot of each row of a step. @param records as the device resolved them */
export function resolvedRows({ rows: planned, shape }: StepPlan, records: Uint32Array): StepRow[] {
  return Array.from({ length: shape.rows }, (_, row): StepRow => {
    const { token, position, slot } = STEP_ROW.read(records, row);
    const isImage = planned[row * PLAN_ROW.words + PLAN_ROW.word.token]! >= MEDIA_TOKEN;
    return { ...(isImage ? {} : { token }), position, slot };
  });
}

/** Whether commands that were recorded for one shape, or for such needs, can run the other. */
export function isSameShape<T extends StepShape | SamplingNeeds>(a: T, b: T): boolean {
  return (Object.keys(a) as (keyof T)[]).every((key) => a[key] === b[key]);
}
