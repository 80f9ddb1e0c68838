// The end of a mixture of experts: the weighted sum of each row's experts, the binding of
// combine.wgsl.

import combineSource from "./combine.wgsl" with { type: "text" };
import type { FloatRows } from "./activation.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import type { Routing } from "./route.ts";

const WORKGROUP = 32;

/** y = the sum over a row's pairs of weight times x. */
export class Combine {
  readonly #dispatch: Dispatch;
  readonly #columns: number;

  /**
   * @param x [rows * choices, columns], one row a pair
   * @param y [rows, columns], as wide as x or wider
   * @param options `accumulate` adds to y instead of replacing it; `weighted: false` where the
   * weights have been used before
   */
  constructor(
    device: Device,
    routing: Routing,
    x: FloatRows,
    y: FloatRows,
    { accumulate = false, weighted = true }: { accumulate?: boolean; weighted?: boolean } = {},
  ) {
    this.#columns = x.stride / 4;
    this.#dispatch = device.kernel({
      name: "combine",
      source: combineSource,
      constants: {
        WORKGROUP,
        CHOICES: routing.choices,
        ACCUMULATE: accumulate,
        WEIGHTED: weighted,
      },
    }).bind(
      { x: x.floats, y: y.floats, ...(weighted ? { weights: routing.weights } : {}) },
      { columns: this.#columns, stride: y.stride / 4 },
    );
  }

  /** Records the first `rows` rows of y. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [Math.ceil(this.#columns / WORKGROUP), rows]);
  }
}

/** The sum in plain loops: x [rows, choices, columns], weights [rows, choices]. */
export function combineReference(
  x: Float32Array,
  weights: ArrayLike<number>,
  { choices, columns }: { choices: number; columns: number },
): Float32Array {
  const y = new Float32Array(x.length / choices); // [rows, columns]
  for (let i = 0; i < y.length; i++) {
    const first = Math.floor(i / columns) * choices;
    let sum = 0;
    for (let c = 0; c < choices; c++) {
      sum += weights[first + c] * x[(first + c) * columns + i % columns];
    }
    y[i] = sum;
  }
  return y;
}
