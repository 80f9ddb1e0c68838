// y = x W^T for weights of any format, and its plain reference. Matrices that are gathered per token
// are experts.ts's.

import type { ActivationFunction } from "./activation_function.ts";

/** How the product is written. */
export interface LinearOptions {
  /** Adds to y instead of replacing it (the residual stream). */
  accumulate?: boolean;
  /** Column of y that row 0 of the matrix goes to. */
  first?: number;
  /** What a paired matrix applies to its gate. Default "silu". */
  activation?: ActivationFunction;
}

/** The product in plain loops, summed in f64: weights [rows, columns], x [tokens, columns]. */
export function linearReference(
  weights: Float32Array,
  x: Float32Array,
  shape: { rows: number; columns: number; tokens: number },
): Float32Array {
  const { rows, columns, tokens } = shape;
  const y = new Float32Array(tokens * rows); // [tokens, rows]
  for (let t = 0; t < tokens; t++) {
    for (let n = 0; n < rows; n++) {
      let sum = 0;
      for (let k = 0; k < columns; k++) sum += x[t * columns + k] * weights[n * columns + k];
      y[t * rows + n] = sum;
    }
  }
  return y;
}
