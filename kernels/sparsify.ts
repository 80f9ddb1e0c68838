// Gaussian top-k: of each row only what stands out is kept, as much as is left of it above a
// threshold. The binding of sparsify.wgsl. Spark Transformer (You et al. 2025), used by Gemma 3n.

import source from "./sparsify.wgsl" with { type: "text" };
import type { FloatRows } from "./activation.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { reduction } from "./workgroup.ts";

/** x = max(0, x - (mean + factor * deviation)) with the mean and deviation of the row, in place. */
export class Sparsify {
  readonly #dispatch: Dispatch;

  /**
   * @param x [rows, columns], at least two columns
   * @param factor deviations above the mean where the threshold is
   */
  constructor(device: Device, x: FloatRows, factor: number) {
    const { constants, snippet } = reduction(device);
    this.#dispatch = device.kernel({ name: "sparsify", source, constants, snippets: [snippet] })
      .bind({ x: x.floats }, { columns: x.columns, stride: x.stride, factor });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [rows]);
  }
}

/** One row in plain loops, summed in f64. */
export function sparsifyReference(x: Float32Array, factor: number): Float32Array {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const squares = x.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const threshold = mean + factor * Math.sqrt(squares / (x.length - 1));
  return x.map((value) => Math.max(0, value - threshold));
}
