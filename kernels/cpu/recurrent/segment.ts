// The segments of a step, which are the consecutive rows of one sequence each, and the functions of
// gates.

import type { StepSegments } from "../../ops/recurrent.ts";
import { STEP_ROW, STEP_SEGMENT } from "../../ops/step_records.ts";
import { exponential } from "../activate/kernel.ts";
import { logarithm } from "../activate/kernel.ts";
import { cpu } from "../memory.ts";
import {
  type Expression,
  f32,
  f32x4,
  f64,
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
} from "../wasm/mod.ts";

/** Where kernels find the sequences of a step. */
export const SEGMENT_ARGUMENTS = ["rows", "segments"] as const;

/** The values of these arguments. */
export function segmentAddresses({ rows, segments }: StepSegments) {
  return { rows: cpu(rows).address, segments: cpu(segments).address };
}

/** The rows of a sequence, its slot, and whether its state counts as zero. */
export function readSegment(
  f: FunctionBuilder,
  work: Memory,
  { rows, segments }: Record<typeof SEGMENT_ARGUMENTS[number], Local<"i32">>,
  index: Local<"i32">,
) {
  const segment = f.let(i32.add(segments, i32.mul(index, STEP_SEGMENT.bytes)));
  const first = f.let(work.i32.load(segment, STEP_SEGMENT.byte.firstRow));
  const count = f.let(work.i32.load(segment, STEP_SEGMENT.byte.rows));
  const row = f.let(i32.add(rows, i32.mul(first, STEP_ROW.bytes)));
  const slot = f.let(work.i32.load(row, STEP_ROW.byte.slot));
  const isFresh = f.let(i32.eqz(work.i32.load(row, STEP_ROW.byte.position)));
  return { first, count, slot, isFresh };
}

/** e to the power of a float. */
export function exponentialOf(f: FunctionBuilder, x: Expression<"f32">): Expression<"f32"> {
  return f32x4.extract_lane(exponential(f, f.let(f32x4.splat(x))), 0);
}

/** 1 / (1 + e^-x). */
export function sigmoid(f: FunctionBuilder, x: Expression<"f32">): Expression<"f32"> {
  return f32.div(1, f32.add(1, exponentialOf(f, f32.neg(x))));
}

/** ln(1 + e^x), as max(x, 0) + ln(1 + e^-|x|). */
export function softplus(f: FunctionBuilder, value: Expression<"f32">): Expression<"f32"> {
  const x = f.let(value);
  const power = f.let(f64.promote_f32(exponentialOf(f, f32.neg(f32.abs(x)))));
  const rest = f.let(f64.mul(power, f64.sub(f64.const(1), f64.mul(power, f64.const(0.5)))));
  // Below that, two terms of the series give all digits of a float.
  f.if(f64.gt(power, f64.const(1e-5)), () => {
    f.set(rest, logarithm(f, f64.add(f64.const(1), power)));
  });
  return f32.add(f32.max(x, 0), f32.demote_f64(rest));
}
