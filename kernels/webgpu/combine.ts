// The end of a mixture of experts: the weighted sum of each row's experts, the binding of
// combine.wgsl.

import combineSource from "./combine.wgsl" with { type: "text" };
import type { FloatRows } from "../ops/activation.ts";
import type { Routing } from "../ops/experts.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

const WORKGROUP = 32;

/** y = the sum over a row's pairs of weight times x. */
export class Combine {
  readonly #dispatch: Dispatch;
  readonly #columns: number;

  /**
   * @param x [rows * topK, columns], a row for each pair
   * @param y [rows, columns], as wide as x or wider
   * @param options `accumulate`: adds to y instead of replacing it; `weighted: false`: the weights
   *   were applied before
   */
  constructor(
    device: Gpu,
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
        TOP_K: routing.topK,
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
