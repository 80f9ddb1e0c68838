// Weighted sums of the vectors within a row: the binding of mix.wgsl.

import source from "./mix.wgsl" with { type: "text" };
import type { FloatRows } from "../ops/activation.ts";
import type { Columns } from "../ops/elementwise.ts";
import type { MixOptions } from "../ops/mix.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

const WORKGROUP = 32;

/** y[k] += sum over j of (weights[k, j] + bias) * x[j], for the vectors k and j of each row. */
export class Mix {
  readonly #dispatch: Dispatch;
  readonly #columns: number;

  /**
   * @param weights [rows, outputs * inputs], those of the first output first
   * @param x vectors as wide as those of y; both may be the same vectors, because x is read first
   */
  constructor(
    device: Gpu,
    weights: FloatRows,
    x: Columns,
    y: Columns,
    { inputs, outputs, bias = 0 }: MixOptions,
  ) {
    const IN_PLACE = x.rows.floats === y.rows.floats;
    const first = y.first ?? 0;
    this.#columns = y.columns ?? y.rows.columns - first;
    this.#dispatch = device.kernel({
      name: "mix",
      source,
      constants: { WORKGROUP, INPUTS: inputs, OUTPUTS: outputs, IN_PLACE },
    }).bind({
      weights: weights.floats,
      ...(IN_PLACE ? {} : { x: x.rows.floats }),
      y: y.rows.floats,
    }, {
      columns: this.#columns,
      weights_stride: weights.stride,
      x_first: x.first ?? 0,
      x_step: x.step ?? 0,
      x_stride: x.rows.stride,
      first,
      step: y.step ?? 0,
      stride: y.rows.stride,
      bias,
    });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [Math.ceil(this.#columns / WORKGROUP), rows]);
  }
}
