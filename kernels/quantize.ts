// Rows of f32 to int8 groups: the binding of quantize.wgsl.

import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import quantizeSource from "./quantize.wgsl" with { type: "text" };
import { type FloatRows, GROUP, type QuantizedRows } from "./activation.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

const WORKGROUP = 32;

/** Quantizes activations that no earlier kernel quantizes on its way out. */
export class Quantize {
  readonly #dispatch: Dispatch;
  readonly #groups: number;

  /** @param x [rows, columns] @param y the same rows as int8 groups */
  constructor(device: Device, x: FloatRows, y: QuantizedRows) {
    this.#groups = x.stride / GROUP;
    this.#dispatch = device.kernel({
      name: "quantize",
      source: quantizeSource,
      constants: { WORKGROUP },
      snippets: [quantizeGroupSource],
    }).bind({ x: x.floats, y: y.groups }, { groups: this.#groups });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [Math.ceil(this.#groups / WORKGROUP), rows]);
  }
}

/** The plain reference: codes and (d, sum, sum) of one group of 32 values. */
export function quantizeReference(x: Float32Array): { codes: Int8Array; scale: number } {
  const peak = x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const codes = Int8Array.from(x, (value) => peak === 0 ? 0 : Math.round(value * 127 / peak));
  return { codes, scale: peak / 127 };
}
