// Gaussian top-k: the binding of sparsify.wgsl.

import source from "./sparsify.wgsl" with { type: "text" };
import type { FloatRows } from "../ops/activation.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { reduction } from "./workgroup.ts";

/** x = max(0, x - (mean + factor * deviation)) with the mean and deviation of the row, in place. */
export class Sparsify {
  readonly #dispatch: Dispatch;

  /**
   * @param x [rows, columns], at least two columns
   * @param factor standard deviations above the mean of the threshold
   */
  constructor(device: Gpu, x: FloatRows, factor: number) {
    const { constants, snippet } = reduction(device);
    this.#dispatch = device.kernel({ name: "sparsify", source, constants, snippets: [snippet] })
      .bind({ x: x.floats }, { columns: x.columns, stride: x.stride, factor });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [rows]);
  }
}
