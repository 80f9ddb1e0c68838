// Weighted sums of the vectors within a row, with weights that each row has of its own: the binding
// of mix.wgsl. AltUp (Baykal et al. 2023) predicts and corrects its streams with it.

import source from "./mix.wgsl" with { type: "text" };
import type { FloatRows } from "./activation.ts";
import type { Device } from "./device.ts";
import type { Columns } from "./elementwise.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

/** How many vectors a row has, and what is added to its weights. */
export interface MixOptions {
  /** Vectors of x in each row. */
  inputs: number;
  /** Vectors of y in each row. */
  outputs: number;
  /** Default 0. */
  bias?: number;
}

const WORKGROUP = 32;

/** y[k] += sum over j of (weights[k, j] + bias) * x[j], for the vectors k and j of each row. */
export class Mix {
  readonly #dispatch: Dispatch;
  readonly #columns: number;

  /**
   * @param weights [rows, outputs * inputs], the inputs' of the first output first
   * @param x vectors as wide as those of y; they may be the same ones, for they are read first
   */
  constructor(
    device: Device,
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

/** What is added to one row in plain loops: weights [outputs, inputs], x [inputs, columns]. */
export function mixReference(
  weights: Float32Array,
  x: Float32Array,
  { inputs, outputs, bias = 0 }: MixOptions,
): Float32Array {
  const columns = x.length / inputs;
  return Float32Array.from({ length: outputs * columns }, (_, at) => {
    const output = Math.floor(at / columns);
    let sum = 0;
    for (let j = 0; j < inputs; j++) {
      sum += (weights[output * inputs + j] + bias) * x[j * columns + at % columns];
    }
    return sum;
  });
}
