// Which rows of a tensor are meant: all, or some in another order. Files hold queries beside gates,
// or gates beside up projections, that one product should give apart.

/** A tensor's rows, all of them or some ranges (first, count) in another order. */
export type Rows = string | {
  readonly name: string;
  readonly ranges: readonly (readonly [first: number, count: number])[];
};

/** The same part of every head or expert: rows first to first + size of each of `count` times `step`. */
export function rowsOfEach(
  name: string,
  { count, step, first, size }: { count: number; step: number; first: number; size: number },
): Rows {
  const ranges = Array.from({ length: count }, (_, i) => [i * step + first, size] as const);
  return { name, ranges };
}

/** The tensor that rows are of. */
export function nameOf(rows: Rows): string {
  return typeof rows === "string" ? rows : rows.name;
}

/** The ranges of rows of a tensor that has `all`. */
export function rangesOf(rows: Rows, all: number): readonly (readonly [number, number])[] {
  return typeof rows === "string" ? [[0, all]] : rows.ranges;
}
