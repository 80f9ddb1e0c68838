// Activations between kernels: rows of f32, padded with zero columns to whole groups of 32, or the
// same rows as int8 groups with scales, for the integer products. Rows are padded to whole tiles.

import type { Device } from "./device.ts";

/** Columns in a group. */
export const GROUP = 32;

/** Rows that every activation buffer is padded to a multiple of: the widest token tile. */
export const ROW_PADDING = 8;

/** `count` rounded up to a multiple of `unit`. */
export function padTo(count: number, unit: number): number {
  return Math.ceil(count / unit) * unit;
}

/** Rows of f32: [rows, stride], stride a multiple of 32, columns past `columns` zero. */
export interface FloatRows {
  readonly columns: number;
  readonly stride: number;
  readonly floats: GPUBuffer;
}

/** Rows as int8 groups: codes [rows, stride / 32, 32], scales [rows, stride / 32] of four floats. */
export interface QuantizedRows {
  readonly columns: number;
  readonly stride: number;
  readonly quants: GPUBuffer;
  readonly scales: GPUBuffer;
}

/** What a matrix product reads. */
export type Activation = FloatRows | QuantizedRows;

/** Whether an activation is int8 groups. */
export function isQuantized(activation: Activation): activation is QuantizedRows {
  return "quants" in activation;
}

/** Allocates zeroed f32 rows. */
export function floatRows(device: Device, label: string, rows: number, columns: number): FloatRows {
  const stride = padTo(columns, GROUP);
  const floats = device.buffer(label, padTo(rows, ROW_PADDING) * stride * 4, "scratch");
  return { columns, stride, floats };
}

/** Allocates zeroed int8 rows. */
export function quantizedRows(
  device: Device,
  label: string,
  rows: number,
  columns: number,
): QuantizedRows {
  const stride = padTo(columns, GROUP);
  const groups = padTo(rows, ROW_PADDING) * stride / GROUP;
  const quants = device.buffer(`${label} codes`, groups * 32, "scratch");
  const scales = device.buffer(`${label} scales`, groups * 16, "scratch");
  return { columns, stride, quants, scales };
}

/** The bindings of an activation that a kernel reads as `x`. */
export function bindInput(x: Activation): Record<string, GPUBuffer> {
  return isQuantized(x) ? { x_quants: x.quants, x_scales: x.scales } : { x: x.floats };
}

/** The bindings of an activation that a kernel writes as `y`. */
export function bindOutput(y: Activation): Record<string, GPUBuffer> {
  return isQuantized(y) ? { y_quants: y.quants, y_scales: y.scales } : { y: y.floats };
}
