// RoPE by angles that each row brings along, as images have them: the binding of rotate_rows.wgsl.
// Positions of text turn by tables of their own, see rotate.ts.

import source from "./rotate_rows.wgsl" with { type: "text" };
import type { FloatRows } from "./activation.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

/** What is rotated, and how. */
export interface RotateRowsOptions {
  /** Heads from the start of each row on. */
  heads: number;
  /** Elements of a head, an even number. */
  headDim: number;
  /** From an element to the one it is paired with: a divisor of `headDim / 2`. */
  distance: number;
}

const WORKGROUP = 64;

/** RoPE in place. */
export class RotateRows {
  readonly #dispatch: Dispatch;
  readonly #workgroups: number;

  /**
   * @param x [rows, columns], the heads first
   * @param turns [rows, headDim / 2] of (cos, sin): how far each pair of each row turns
   */
  constructor(
    device: Device,
    x: FloatRows,
    turns: GPUBuffer,
    { heads, headDim, distance }: RotateRowsOptions,
  ) {
    const pairs = headDim / 2;
    this.#workgroups = Math.ceil(heads * pairs / WORKGROUP);
    const kernel = device.kernel({ name: "rotate rows", source, constants: { WORKGROUP } });
    this.#dispatch = kernel.bind(
      { turns, x: x.floats },
      { heads, pairs, distance, stride: x.stride },
    );
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [this.#workgroups, rows]);
  }
}

/** One head in plain loops; turns [headDim / 2] of (cos, sin). */
export function rotateRowsReference(
  head: Float32Array,
  turns: Float32Array,
  distance: number,
): Float32Array {
  const rotated = head.slice();
  for (let pair = 0; pair < head.length / 2; pair++) {
    const first = Math.floor(pair / distance) * 2 * distance + pair % distance;
    const [a, b] = [head[first], head[first + distance]];
    const [cos, sin] = turns.subarray(2 * pair);
    rotated[first] = a * cos - b * sin;
    rotated[first + distance] = b * cos + a * sin;
  }
  return rotated;
}
