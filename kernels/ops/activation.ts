// Activations between operations: rows of f32, padded with zero columns to whole groups of 32, or the
// same rows as int8 groups with scales, for the integer products. Rows are padded to whole tiles.

import type { Allocator, Buffer, FloatRows } from "../operation.ts";

export type { FloatRows };

/** Columns in a group. */
export const GROUP = 32;

/** Rows that every activation buffer is padded to a multiple of: the widest token tile. */
export const ROW_PADDING = 8;

/** `count` rounded up to a multiple of `unit`. */
export function padTo(count: number, unit: number): number {
  return Math.ceil(count / unit) * unit;
}

/** Rows as int8 groups: [rows, stride / 32] of 32 codes and their scale, as the device has them. */
export interface QuantizedRows {
  readonly columns: number;
  readonly stride: number;
  readonly groups: Buffer;
}

/** What a matrix product reads. */
export type Activation = FloatRows | QuantizedRows;

/** Whether an activation is int8 groups. */
export function isQuantized(activation: Activation): activation is QuantizedRows {
  return "groups" in activation;
}

/** Allocates zeroed f32 rows. */
export function floatRows(
  device: Allocator,
  label: string,
  rows: number,
  columns: number,
): FloatRows {
  const stride = padTo(columns, GROUP);
  const floats = device.buffer(label, padTo(rows, ROW_PADDING) * stride * 4, "scratch");
  return { columns, stride, floats };
}

/** Allocates zeroed int8 rows. */
export function quantizedRows(
  device: Allocator,
  label: string,
  rows: number,
  columns: number,
): QuantizedRows {
  const stride = padTo(columns, GROUP);
  const bytes = padTo(rows, ROW_PADDING) * stride / GROUP * device.groupBytes;
  return { columns, stride, groups: device.buffer(label, bytes, "scratch") };
}

/** The buffer that an activation is in. */
export function bufferOf(activation: Activation): Buffer {
  return isQuantized(activation) ? activation.groups : activation.floats;
}

/** The plain reference: codes and (d, sum, sum) of one group of 32 values. */
export function quantizeReference(x: Float32Array): { codes: Int8Array; scale: number } {
  const peak = x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const codes = Int8Array.from(x, (value) => peak === 0 ? 0 : Math.round(value * 127 / peak));
  return { codes, scale: peak / 127 };
}
