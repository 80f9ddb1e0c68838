// RMSNorm and LayerNorm of whole rows or of the heads within them, and their plain reference.

import type { Buffer } from "../operation.ts";

/** A norm as a model has it. */
export interface Norm {
  /** "layer" subtracts the mean first. */
  readonly kind: "rms" | "layer";
  readonly epsilon: number;
  /** A factor per column, padded with zeros to whole groups; none: one. */
  readonly weight?: Buffer;
  /** A term per column, padded likewise. */
  readonly bias?: Buffer;
  /** Whether each vector of a row has weights of its own, side by side in `weight`. */
  readonly weightPerVector?: boolean;
}

/** Which vectors are normalized, and what becomes of them. */
export interface NormOptions {
  /** Row numbers of x to normalize, one per row of y; default all in order. */
  source?: Buffer;
  /** Vectors within each row, from column `first` on, both multiples of four. Default: the row. */
  vectors?: { first: number; count: number; columns: number };
  /** Adds to y instead of replacing it. */
  accumulate?: boolean;
}

/** A norm in plain loops, summed in f64. x: vectors of `columns`, one after the other. */
export function normReference(
  x: Float32Array,
  columns: number,
  norm: { kind: "rms" | "layer"; epsilon: number; weight?: Float32Array; bias?: Float32Array },
): Float32Array {
  const y = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += columns) {
    const vector = x.subarray(start, start + columns);
    const mean = norm.kind === "rms" ? 0 : vector.reduce((sum, value) => sum + value, 0) / columns;
    const squares = vector.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const scale = 1 / Math.sqrt(squares / columns + norm.epsilon);
    for (let k = 0; k < columns; k++) {
      const { weight, bias } = norm;
      y[start + k] = (vector[k] - mean) * scale * (weight?.[k] ?? 1) + (bias?.[k] ?? 0);
    }
  }
  return y;
}
