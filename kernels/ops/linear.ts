// y = x W^T for weights of any format, and its plain reference. Products with expert matrices are
// in experts.ts.

import type { ActivationFunction } from "./activation_function.ts";

/** The options of a product. */
export interface LinearOptions {
  /** Whether to add to y (the residual stream) instead of replacing it. */
  accumulate?: boolean;
  /** Column of y for row 0 of the matrix. */
  first?: number;
  /** Activation of the gate in a paired matrix. Default "silu". */
  activation?: ActivationFunction;
}

/** The plain reference, summed in f64: weights [rows, columns], x [tokens, columns]. */
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
