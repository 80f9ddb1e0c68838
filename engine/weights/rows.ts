// Which rows of a weight tensor are meant: all, or some in another order. Files hold queries beside
// gates, or gates beside up projections, that one product should give apart. The number of rows that the
// whole tensor has to have goes along, so that no weight is read without being held against it.

/** Rows of a tensor that an architecture reads. */
export interface Rows {
  /** Of the tensor, with its ".weight". */
  readonly name: string;
  /** That the whole tensor has, those of all its matrices together. */
  readonly rows: number;
  /** Matrices in it, one below the other: experts or heads. Default 1. */
  readonly matrices?: number;
  /** Ranges (first, count) in the order in which they are read. Default: all rows. */
  readonly ranges?: readonly (readonly [first: number, count: number])[];
}

/** The same part of every head or expert: rows first to first + size of each of `count` times `step`. */
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
    // Listed when they are read: by then the tensor is known to have so many.
    get ranges() {
      return Array.from({ length: count }, (_, i) => [i * step + first, size] as const);
    },
  };
}

/** The ranges of rows that are read. */
export function rangesOf({ rows, ranges }: Rows): readonly (readonly [number, number])[] {
  return ranges ?? [[0, rows]];
}

/** How many rows are read. */
export function countOf(rows: Rows): number {
  return rangesOf(rows).reduce((sum, [, count]) => sum + count, 0);
}

/** The shape of the whole tensor as GGUF has it, the length of a row first. */
export function shapeOf({ rows, matrices = 1 }: Rows, columns: number): readonly number[] {
  return [columns, rows / matrices, matrices];
}

/** The name that a weight shares with its bias and its scale. */
export function baseOf({ name }: Rows): string {
  return name.replace(/\.weight$/, "");
}
