// The patches of an image, in the order of the network's rows. Patches that become one token follow
// one another, so that joining them is only another view of the same memory.

import { GROUP, padTo } from "../../../kernels/mod.ts";

/** Number of channels: red, green and blue. */
export const CHANNELS = 3;

/** Width and height of an image in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** How an encoder divides images into patches. */
export interface PatchLayout {
  /** Side of a patch in pixels. */
  readonly patchSize: number;
  /** Patches along each side of the square that becomes one token. */
  readonly merge: number;
  /** Whether tokens are ordered by column of the image instead of by row. */
  readonly columnsFirst?: boolean;
}

/** The patches of an image of one size. */
export class PatchGrid {
  /** Number of patches from left to right. */
  readonly columns: number;
  /** Number of patches from top to bottom. */
  readonly rows: number;
  /** Column of each patch in the image, in the order of the network's rows. */
  readonly xs: Uint32Array;
  /** Row of each patch in the image, in the order of the network's rows. */
  readonly ys: Uint32Array;

  /** Errors: RangeError if the sides are not multiples of a token's side. */
  constructor({ width, height }: ImageSize, readonly layout: PatchLayout) {
    const { patchSize, merge, columnsFirst = false } = layout;
    const side = patchSize * merge;
    if (!(width > 0 && height > 0 && width % side === 0 && height % side === 0)) {
      throw new RangeError(
        `Cannot encode an image of ${width} x ${height} pixels: ` +
          `this encoder takes sides that are multiples of ${side}`,
      );
    }
    this.columns = width / patchSize;
    this.rows = height / patchSize;
    this.xs = new Uint32Array(this.patches);
    this.ys = new Uint32Array(this.patches);
    const tokensOf = (patches: number) => patches / merge;
    const inner = tokensOf(columnsFirst ? this.rows : this.columns);
    for (let row = 0; row < this.patches; row++) {
      const [token, part] = [Math.floor(row / merge ** 2), row % merge ** 2];
      const [outer, within] = [Math.floor(token / inner), token % inner];
      this.xs[row] = (columnsFirst ? outer : within) * merge + part % merge;
      this.ys[row] = (columnsFirst ? within : outer) * merge + Math.floor(part / merge);
    }
  }

  get patches(): number {
    return this.columns * this.rows;
  }

  get tokens(): number {
    return this.patches / this.layout.merge ** 2;
  }

  /**
   * The pixels of each patch as a row, channel after channel: [rows, stride], padded with zeros to
   * whole groups.
   * @param pixels [height, width, 3]
   * @param rows at least the number of patches; additional rows are zero
   */
  cut(pixels: Float32Array, rows: number): Float32Array<ArrayBuffer> {
    const { patchSize } = this.layout;
    const width = this.columns * patchSize;
    const stride = padTo(3 * patchSize ** 2, GROUP);
    const cut = new Float32Array(rows * stride);
    for (let row = 0; row < this.patches; row++) {
      for (let y = 0; y < patchSize; y++) {
        const line = (this.ys[row] * patchSize + y) * width + this.xs[row] * patchSize;
        let to = row * stride + y * patchSize;
        for (let x = 0; x < patchSize; x++, to++) {
          const from = 3 * (line + x);
          cut[to] = pixels[from];
          cut[to + patchSize ** 2] = pixels[from + 1];
          cut[to + 2 * patchSize ** 2] = pixels[from + 2];
        }
      }
    }
    return cut;
  }
}

// Rotary embedding over the two axes of an image: half of a head's pairs rotate by the patch's row,
// the other half by its column. Models differ in which half is which, in how elements are paired,
// and in the frequencies. Computed in f64 on the CPU, once for each size of image.

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
