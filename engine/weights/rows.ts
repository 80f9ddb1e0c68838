// The rows of a weight tensor that are loaded: all, or some in another order. Files may have
// queries beside gates, or gates beside up projections, which one product should give separately.
// The total number of rows of the tensor is also given, so that its shape is always checked.

/** Rows of a tensor that an architecture reads. */
export interface Rows {
  /** Name of the tensor, with its ".weight". */
  readonly name: string;
  /** Number of rows of the whole tensor, in all its matrices together. */
  readonly rows: number;
  /** Number of matrices in it, one below the other: experts or heads. Default 1. */
  readonly matrices?: number;
  /** Ranges (first, count) in the order in which they are read. Default: all rows. */
  readonly ranges?: readonly (readonly [first: number, count: number])[];
}

/**
 * A part of every head or expert: rows first to first + size of each of `count` times
 * `step`.
 */
export function rowsOfEach(
  name: string,
  { count, step, first, size, matrices = 1 }: {
    count: number;
    step: number;
    first: number;
    size: number;
    matrices?: number;
  },
): Rows {
  return {
    name,
    rows: count * step,
    matrices,
    // Computed when they are read, because by then the tensor's shape has been checked.
    get ranges() {
      return Array.from({ length: count }, (_, i) => [i * step + first, size] as const);
    },
  };
}

/** The ranges of rows that are read. */
export function rangesOf({ rows, ranges }: Rows): readonly (readonly [number, number])[] {
  return ranges ?? [[0, rows]];
}

/** Number of rows that are read. */
export function countOf(rows: Rows): number {
  return rangesOf(rows).reduce((sum, [, count]) => sum + count, 0);
}

/** The shape of the whole tensor in GGUF, the length of a row first. */
export function shapeOf({ rows, matrices = 1 }: Rows, columns: number): readonly number[] {
  return [columns, rows / matrices, matrices];
}

/** The name without ".weight", under which a weight's bias and scale are. */
export function baseOf({ name }: Rows): string {
  return name.replace(/\.weight$/, "");
}
