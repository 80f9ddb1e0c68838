// RMSNorm over rows: the binding of rms_norm.wgsl.

import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import rmsNormSource from "./rms_norm.wgsl" with { type: "text" };
import { type Activation, bindOutput, type FloatRows, GROUP, isQuantized } from "./activation.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { reduction } from "./workgroup.ts";

/** What a norm needs beside its rows. */
export interface RmsNormOptions {
  /** One factor per column, padded with zeros to whole groups. */
  weight: GPUBuffer;
  epsilon: number;
  /** Row numbers of x to normalize, one per row of y; default all in order. */
  source?: GPUBuffer;
}

/** y = x / sqrt(mean(x^2) + epsilon) * weight. */
export class RmsNorm {
  readonly #dispatch: Dispatch;

  /** @param x [rows, columns] @param y the same shape, f32 or int8 groups */
  constructor(device: Device, x: FloatRows, y: Activation, options: RmsNormOptions) {
    const { weight, epsilon, source } = options;
    const { constants, snippet } = reduction(device);
    const QUANTIZED_OUTPUT = isQuantized(y);
    this.#dispatch = device.kernel({
      name: "rms_norm",
      source: rmsNormSource,
      constants: { ...constants, QUANTIZED_OUTPUT, GATHER: source !== undefined },
      snippets: QUANTIZED_OUTPUT ? [snippet, quantizeGroupSource] : [snippet],
    }).bind(
      { x: x.floats, weight, ...(source ? { source } : {}), ...bindOutput(y) },
      { columns: x.columns, groups: x.stride / GROUP, epsilon },
    );
  }

  /** Records the first `rows` rows of y. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [rows]);
  }
}

/** The norm in plain loops, summed in f64. x: [rows, columns]. */
export function rmsNormReference(
  x: Float32Array,
  weight: Float32Array,
  epsilon: number,
): Float32Array {
  const columns = weight.length;
  const y = new Float32Array(x.length);
  for (let row = 0; row < x.length; row += columns) {
    let squares = 0;
    for (let k = 0; k < columns; k++) squares += x[row + k] ** 2;
    const scale = 1 / Math.sqrt(squares / columns + epsilon);
    for (let k = 0; k < columns; k++) y[row + k] = x[row + k] * scale * weight[k];
  }
  return y;
}
