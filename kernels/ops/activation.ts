// Activations between operations: rows of f32, padded with zero columns to whole groups of 32, or
// the same rows as int8 groups with scales, for integer products. The number of rows is padded to
// whole tiles.

import type { Allocator, Buffer, FloatRows } from "../operation.ts";

export type { FloatRows };

/** Columns in a group. */
export const GROUP = 32;

/** The number of rows of an activation is padded to a multiple of this, the widest token tile. */
export const ROW_PADDING = 8;

/** `count` rounded up to a multiple of `unit`. */
export function padTo(count: number, unit: number): number {
  return Math.ceil(count / unit) * unit;
}

/**
 * Rows as int8 groups: [rows, stride / 32] of 32 codes and their scale, in the layout of the
 * device.
 */
export interface QuantizedRows {
  readonly columns: number;
  readonly stride: number;
  readonly groups: Buffer;
  /** See {@linkcode FloatRows.deferredEpsilon}; each group has its sum of squares. */
  readonly deferredEpsilon?: number;
}

/** The input of a matrix product. */
export type Activation = FloatRows | QuantizedRows;

/** Whether an activation consists of int8 groups. */
export function isQuantized(activation: Activation): activation is QuantizedRows {
  return "groups" in activation;
}

/** Allocates zeroed f32 rows, and with `deferredEpsilon` their sums of squares. */
export function floatRows(
  device: Allocator,
  label: string,
  rows: number,
  columns: number,
  { deferredEpsilon }: Pick<FloatRows, "deferredEpsilon"> = {},
): FloatRows {
  const stride = padTo(columns, GROUP);
  const all = padTo(rows, ROW_PADDING);
  const squares = all * stride;
  const hasSquares = deferredEpsilon !== undefined;
  const count = squares + (hasSquares ? all * 4 * squareQuads(columns) : 0);
  const floats = device.buffer(label, count * 4, "scratch");
  return { columns, stride, floats, ...(hasSquares && { deferredEpsilon, squares }) };
}

/** Quads of f32 that hold the sums of squares of a row; see {@linkcode FloatRows.squares}. */
export function squareQuads(columns: number): number {
  return Math.ceil(columns / GROUP / 4);
}

/** Allocates zeroed int8 rows. */
export function quantizedRows(
  device: Allocator,
  label: string,
  rows: number,
  columns: number,
  options: Pick<QuantizedRows, "deferredEpsilon"> = {},
): QuantizedRows {
  const stride = padTo(columns, GROUP);
  const bytes = padTo(rows, ROW_PADDING) * stride / GROUP * device.groupBytes;
  return { columns, stride, groups: device.buffer(label, bytes, "scratch"), ...options };
}

export function bufferOf(activation: Activation): Buffer {
  return isQuantized(activation) ? activation.groups : activation.floats;
}

/** The plain reference: codes and (scale, sums) of one group of 32 values. */
export function quantizeReference(x: Float32Array): { codes: Int8Array; scale: number } {
  const peak = x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const codes = Int8Array.from(x, (value) => peak === 0 ? 0 : Math.round(value * 127 / peak));
  return { codes, scale: peak / 127 };
}

// The activation functions of feed-forward blocks: their names and plain references.

/**
 * The functions. "gelu" is the tanh form (Hendrycks and Gimpel 2016), "gelu_erf" the exact one of the
 * same paper, and "quick_gelu" its x * sigmoid(1.702 x), "relu_squared" is from Primer (So et al. 2021),
 * "clamped_swish" is from gpt-oss: inputs are at most 7, and a gated block adds one to `up`.
 */
export type ActivationFunction =
  | "silu"
  | "gelu"
  | "gelu_erf"
  | "quick_gelu"
  | "relu"
  | "relu_squared"
  | "clamped_swish";

export const ACTIVATION_FUNCTIONS: readonly ActivationFunction[] = [
  ...["silu", "gelu", "gelu_erf", "quick_gelu"] as const,
  ...["relu", "relu_squared", "clamped_swish"] as const,
];

/** The options of activate(), which applies a function outside of a product. */
export interface ActivateOptions {
  activation: ActivationFunction;
  /** Whether x is gate and up: f(gate) * up instead of f(x). */
  gated: boolean;
}

/** The plain reference of a function. */
export function activateReference(name: ActivationFunction, x: number): number {
  switch (name) {
    case "silu":
      return x / (1 + Math.exp(-x));
    case "gelu":
      // x / 2 * (1 + tanh(u)), in a form without cancellation where tanh is near -1.
      return x / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
    case "gelu_erf":
      return x * (x < 0 ? 1 - errorFunction(-x / Math.SQRT2) : 1 + errorFunction(x / Math.SQRT2)) /
        2;
    case "quick_gelu":
      return x / (1 + Math.exp(-1.702 * x));
    case "relu":
      return Math.max(x, 0);
    case "relu_squared":
      return Math.max(x, 0) ** 2;
    case "clamped_swish":
      return Math.min(x, 7) / (1 + Math.exp(-1.702 * Math.min(x, 7)));
  }
}

/** erf(x) of x >= 0 by its series without cancellation (Abramowitz and Stegun 1964, 7.1.6). */
function errorFunction(x: number): number {
  if (!(x <= 6)) return x > 6 ? 1 : NaN;
  let [sum, term] = [0, x];
  for (let n = 1; sum + term !== sum; n++) {
    sum += term;
    term *= 2 * x ** 2 / (2 * n + 1);
  }
  return x === 0 ? 0 : 2 / Math.sqrt(Math.PI) * Math.exp(-(x ** 2)) * sum;
}

/** The plain reference of f(gate) * up. */
export function gateReference(name: ActivationFunction, x: number, up: number): number {
  const factor = name === "clamped_swish" ? Math.max(-7, Math.min(7, up)) + 1 : up;
  return activateReference(name, x) * factor;
}
