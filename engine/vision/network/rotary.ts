// Rotary embedding over the two axes of an image: half of a head's pairs rotate by the patch's row,
// the other half by its column. Models differ in which half is which, in how elements are paired,
// and in the frequencies. Computed in f64 on the CPU, once for each size of image.

import type { PatchGrid } from "./patch_grid.ts";

/** A rotary embedding of two axes. */
export interface GridRope {
  /** Elements of a head, a multiple of four. */
  readonly headDim: number;
  /** Base of the frequencies. */
  readonly base: number;
  /** The axis of the first half of the pairs. */
  readonly first: "row" | "column";
  /** Distance between the two elements of a pair. */
  readonly distance: number;
  /**
   * Whether the halves take the frequencies of one sequence alternately. Default: each has a
   * sequence of its own.
   */
  readonly interleaved?: boolean;
  /** Row and column of the first patch; default 0. */
  readonly origin?: number;
}

/**
 * (cos, sin) of each row and pair: [rows, headDim / 2]. Rows after those of the patches do not
 * rotate.
 */
export function gridRotations(rope: GridRope, grid: PatchGrid, rows: number): Float32Array {
  const { headDim, base, first, interleaved = false, origin = 0 } = rope;
  const pairs = headDim / 2;
  const half = pairs / 2;
  const rotations = new Float32Array(rows * headDim);
  const frequencies = Float64Array.from({ length: pairs }, (_, pair) => {
    const shift = interleaved && pair >= half ? 0.5 : 0;
    return base ** (-(pair % half + shift) / half);
  });
  const axes = first === "row" ? [grid.ys, grid.xs] : [grid.xs, grid.ys];
  for (let row = 0, at = 0; row < rows; row++) {
    const isPatch = row < grid.patches;
    for (let pair = 0; pair < pairs; pair++) {
      const position = isPatch ? axes[pair < half ? 0 : 1][row] + origin : 0;
      const angle = position * frequencies[pair];
      rotations[at++] = Math.cos(angle);
      rotations[at++] = Math.sin(angle);
    }
  }
  return rotations;
}
