// SwiGLU where gate and up are two products: the binding of swiglu.wgsl. Where they are one paired
// matrix, linear.wgsl does it on its way out.

import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import swigluSource from "./swiglu.wgsl" with { type: "text" };
import { type Activation, bindOutput, type FloatRows, GROUP, isQuantized } from "./activation.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

const WORKGROUP = 32;

/** y = silu(gate) * up, gate and up the two halves of each row of x. */
export class SwiGlu {
  readonly #dispatch: Dispatch;
  readonly #groups: number;

  /** @param x [rows, 2, y.stride] @param y [rows, columns], f32 or int8 groups */
  constructor(device: Device, x: FloatRows, y: Activation) {
    this.#groups = y.stride / GROUP;
    const QUANTIZED_OUTPUT = isQuantized(y);
    this.#dispatch = device.kernel({
      name: "swiglu",
      source: swigluSource,
      constants: { WORKGROUP, QUANTIZED_OUTPUT },
      snippets: QUANTIZED_OUTPUT ? [quantizeGroupSource] : [],
    }).bind({ x: x.floats, ...bindOutput(y) }, { groups: this.#groups });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [Math.ceil(this.#groups / WORKGROUP), rows]);
  }
}

/** silu(gate) * up in plain numbers. */
export function swigluReference(gate: Float32Array, up: Float32Array): Float32Array {
  return gate.map((g, i) => g / (1 + Math.exp(-g)) * up[i]);
}
