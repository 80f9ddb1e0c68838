// Rows of f32 to int8 groups: the binding of quantize.wgsl.

import quantizeSource from "./quantize.wgsl" with { type: "text" };
import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import { type FloatRows, GROUP, type QuantizedRows, squareQuads } from "../ops/activation.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

const WORKGROUP = 32;

/** Quantizes activations that no earlier kernel writes in quantized form. */
export class Quantize {
  readonly #dispatch: Dispatch;
  readonly #groups: number;

  /** @param x [rows, columns] @param y the same rows as int8 groups */
  constructor(device: Gpu, x: FloatRows, y: QuantizedRows) {
    this.#groups = x.stride / GROUP;
    this.#dispatch = device.kernel({
      name: "quantize",
      source: quantizeSource,
      constants: { WORKGROUP, SQUARES: x.squares !== undefined },
      snippets: [quantizeGroupSource],
    }).bind({ x: x.floats, y: y.groups }, {
      groups: this.#groups,
      squares: (x.squares ?? 0) / 4,
      square_quads: squareQuads(x.columns),
    });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [Math.ceil(this.#groups / WORKGROUP), rows]);
  }
}
