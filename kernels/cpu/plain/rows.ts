// What operations in plain TypeScript share: the floats of an activation, and results that may have to
// be quantized when they are complete.

import { type Activation, type FloatRows, GROUP, isQuantized } from "../../ops/activation.ts";
import type { CpuBuffer } from "../memory.ts";
import { cpu } from "../memory.ts";

/** The floats of rows. */
export function floatsOf(rows: FloatRows): Float32Array {
  return cpu(rows.floats).floats;
}

/** Where an operation writes its rows: f32, which `finish` quantizes where that is what is wanted. */
export interface Target {
  readonly floats: Float32Array;
  readonly stride: number;
  finish(rows: number): void;
}

/** What results that are to be quantized need of a device. */
export interface Quantizer {
  /** Temporary memory, only valid during the operation. */
  temporary(bytes: number): CpuBuffer;
  /** Rows of f32 to int8 groups: [rows, groups]. */
  quantize(from: CpuBuffer, to: CpuBuffer, rows: number, groups: number): void;
}

/** Where to write `rows` rows of an activation. */
export function targetOf(device: Quantizer, y: Activation, rows: number): Target {
  const { stride } = y;
  if (!isQuantized(y)) return { floats: floatsOf(y), stride, finish() {} };
  const buffer = device.temporary(rows * stride * 4);
  const floats = buffer.floats.subarray(0, rows * stride);
  floats.fill(0);
  return {
    floats,
    stride,
    finish: (rows) => device.quantize(buffer, cpu(y.groups), rows, stride / GROUP),
  };
}
