// An activation function by itself, for feed-forward blocks without a gate, or with gate and up
// projections in two products: the binding of activate.wgsl. If they are one paired matrix,
// linear.wgsl applies it.

import activateSource from "./activate.wgsl" with { type: "text" };
import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import {
  type Activation,
  bufferOf,
  type FloatRows,
  GROUP,
  isQuantized,
} from "../ops/activation.ts";
import type { ActivationFunction } from "../ops/activation_function.ts";
import { activationFunction } from "./activation_function.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

const WORKGROUP = 32;

/** y = f(x), or f(gate) * up with gate and up the two halves of each row of x. */
export class Activate {
  readonly #dispatch: Dispatch;
  readonly #groups: number;

  /** @param x [rows, y.stride], twice as wide if gated @param y [rows, columns] */
  constructor(
    device: Gpu,
    x: FloatRows,
    y: Activation,
    { activation, gated }: { activation: ActivationFunction; gated: boolean },
  ) {
    this.#groups = y.stride / GROUP;
    const QUANTIZED_OUTPUT = isQuantized(y);
    const { constants, snippet } = activationFunction(activation);
    this.#dispatch = device.kernel({
      name: "activate",
      source: activateSource,
      constants: { ...constants, WORKGROUP, GATED: gated, QUANTIZED_OUTPUT },
      snippets: QUANTIZED_OUTPUT ? [snippet, quantizeGroupSource] : [snippet],
    }).bind({ x: x.floats, y: bufferOf(y) }, { groups: this.#groups });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [Math.ceil(this.#groups / WORKGROUP), rows]);
  }
}
