// RMSNorm and LayerNorm of whole rows or of the heads within them, and their plain reference.

import type { Buffer } from "../operation.ts";
import type { Activation } from "./activation.ts";

/** The options of a norm. */
export interface Norm {
  /** "layer" subtracts the mean first. */
  readonly kind: "rms" | "layer";
  readonly epsilon: number;
  /** Factors for columns, padded with zeros to whole groups. Missing: ones. */
  readonly weight?: Buffer;
  /** Biases for columns, padded in the same way. */
  readonly bias?: Buffer;
  /** Whether each vector of a row has weights of its own, side by side in `weight`. */
  readonly weightPerVector?: boolean;
}

/** The vectors that are normalized, and the place of the result. */
export interface NormOptions {
  /** For each row of y, the row of x that is normalized. Default: the same row. */
  source?: Buffer;
  /**
   * The vectors within each row, from column `first` on; `first` and `columns` are multiples of
   * four. Default: the whole row.
   */
  vectors?: { first: number; count: number; columns: number };
  /** Whether to add to y instead of replacing it. */
  accumulate?: boolean;
  /** An RMSNorm of the sum, as rows of its own; with `accumulate`, of whole rows. */
  next?: NextNorm;
}

/** A norm of rows to which another one was just added. */
export interface NextNorm {
  /** Without a bias, and with weights. */
  readonly norm: Norm;
  /** Its result, with as many columns. */
  readonly y: Activation;
}

/** The plain reference, summed in f64. x: vectors of `columns`, one after the other. */
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
