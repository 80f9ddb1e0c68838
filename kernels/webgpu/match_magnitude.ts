// Scales vectors to the length of another: the binding of match_magnitude.wgsl.

import source from "./match_magnitude.wgsl" with { type: "text" };
import type { Columns } from "../ops/elementwise.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { reduction } from "./workgroup.ts";

/** Scales each vector of y so that its L2 norm becomes that of the row's reference. */
export class MatchMagnitude {
  readonly #dispatch: Dispatch;
  readonly #count: number;

  /**
   * @param reference one vector in each row, as wide as those of y and in another buffer
   * @param options `count`: vectors of y in each row, default 1
   */
  constructor(
    device: Gpu,
    y: Columns,
    reference: Columns,
    { count = 1 }: { count?: number } = {},
  ) {
    const { constants, snippet } = reduction(device);
    const first = y.first ?? 0;
    this.#count = count;
    this.#dispatch = device.kernel({
      name: "match magnitude",
      source,
      constants,
      snippets: [snippet],
    }).bind({ y: y.rows.floats, reference: reference.rows.floats }, {
      columns: y.columns ?? y.rows.columns - first,
      first,
      step: y.step ?? 0,
      stride: y.rows.stride,
      reference_first: reference.first ?? 0,
      reference_stride: reference.rows.stride,
    });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [rows, this.#count]);
  }
}
