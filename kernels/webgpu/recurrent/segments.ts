// What the recurrent kernels share: the step's sequences, and how a workgroup keeps a state.

import segmentSource from "./segment.wgsl" with { type: "text" };
import type { StepSegments } from "../../ops/recurrent/segments.ts";
import { STEP_ROW, STEP_SEGMENT } from "../../ops/step_records.ts";
import { structs } from "../structs.ts";

/** The WGSL that recurrent kernels share. */
export const SEGMENT_SNIPPET = structs(STEP_ROW, STEP_SEGMENT) + segmentSource;

/** Bytes of the largest uniform buffer that every device has. */
const UNIFORM_BYTES = 65536;

/** The constant and the bindings of segment.wgsl. */
export function bindSegments({ rows, segments }: StepSegments) {
  const size = Math.min(segments.size, UNIFORM_BYTES);
  return {
    SEGMENTS: size / STEP_SEGMENT.bytes,
    bindings: { rows, segments: { buffer: segments, size } },
  };
}

/** Invocations of a workgroup that keeps a state. */
const WORKGROUP = 128;

/** Floats of a row of the state that one invocation keeps in registers. */
const CARRIED = 32;

/**
 * Floats of each input that are staged at a time. With the rest, less than the 16 KiB of workgroup
 * memory that all devices have.
 */
const STAGED = 1024;

/**
 * Constants of a kernel whose workgroup keeps WORKGROUP / TEAM rows of a state with `columns`
 * floats each. Each invocation has QUADS quads, and a step's rows are processed TILE at a time.
 * Rows of a state may only share a workgroup within the same `unit` of neighbouring rows.
 */
export function carryState(columns: number, unit?: number): Record<string, number> {
  let team = 1;
  while (columns / team > CARRIED && columns % (8 * team) === 0) team *= 2;
  let rows = WORKGROUP / team;
  while (unit !== undefined && unit % rows !== 0) rows /= 2;
  return {
    WORKGROUP: rows * team,
    TEAM: team,
    QUADS: columns / 4 / team,
    TILE: Math.max(1, Math.min(8, Math.floor(STAGED / columns))),
  };
}
