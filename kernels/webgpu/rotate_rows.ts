// RoPE by angles of each row, as for images: the binding of rotate_rows.wgsl. Positions of text
// have tables of angles instead, see rotate.ts.

import source from "./rotate_rows.wgsl" with { type: "text" };
import type { Buffer } from "../operation.ts";
import type { FloatRows } from "../ops/activation.ts";
import type { RotateRowsOptions } from "../ops/rotate.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

const WORKGROUP = 64;

/** RoPE in place. */
export class RotateRows {
  readonly #dispatch: Dispatch;
  readonly #workgroups: number;

  /**
   * @param x [rows, columns], the heads first
   * @param angles (cos, sin) of each row and pair: [rows, headDim / 2]
   */
  constructor(
    device: Gpu,
    x: FloatRows,
    angles: Buffer,
    { heads, headDim, distance }: RotateRowsOptions,
  ) {
    const pairs = headDim / 2;
    this.#workgroups = Math.ceil(heads * pairs / WORKGROUP);
    const kernel = device.kernel({ name: "rotate rows", source, constants: { WORKGROUP } });
    this.#dispatch = kernel.bind(
      { angles, x: x.floats },
      { heads, pairs, distance, stride: x.stride },
    );
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [this.#workgroups, rows]);
  }
}
