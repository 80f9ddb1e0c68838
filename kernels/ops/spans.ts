// Operations over neighbouring rows, for encoders of sounds: rows gathered side by side, of which products
// make convolutions, and attention of each row to a span of rows, with relative positions (Dai et al.
// 2019, Transformer-XL; Shaw et al. 2018) if wanted. Their plain references, and the facts of their operands.

import type { Buffer, Operation } from "../operation.ts";
import type { FloatRows } from "./activation.ts";
import { described } from "./described.ts";
import type { Columns } from "./elementwise.ts";
import { FLOAT } from "./work.ts";

/** The number of no row, which gathers zeros. */
export const NO_ROW = 2 ** 32 - 1;

/** The plain reference of one row: x [rows, columns], the gathered rows one after the other. */
export function gatherReference(
  x: Float32Array,
  columns: number,
  sources: ArrayLike<number>,
): Float32Array {
  const y = new Float32Array(sources.length * columns);
  for (let i = 0; i < sources.length; i++) {
    const from = sources[i];
    if (from !== NO_ROW) y.set(x.subarray(from * columns, (from + 1) * columns), i * columns);
  }
  return y;
}

/** Heads and arithmetic of attention to spans. */
export interface SpanAttentionOptions {
  readonly heads: number;
  /** Elements of a head of queries and keys, and of values. */
  readonly headDim: number;
  readonly valueDim: number;
  /** Factor of the scores. */
  readonly scale: number;
  /** Scores s become softcap * tanh(s / softcap). Missing: they stay. */
  readonly softcap?: number | undefined;
}

/** Relative positions: what is added to a score before it is scaled. */
export interface RelativePositions {
  /** A query for positions, beside that for keys: [rows, heads, headDim]. */
  readonly queries: Columns;
  /** A key for each distance, see {@linkcode distanceRow}: [distances, heads, headDim]. */
  readonly table: FloatRows;
}

/**
 * The row of a distance in the table of {@linkcode RelativePositions}: 0, 1, -1, 2, -2 and so on, so
 * that the distances of short sounds come first. @param distance number of the query minus that of the key
 */
export function distanceRow(distance: number): number {
  return distance > 0 ? 2 * distance - 1 : -2 * distance;
}

/** The plain reference of one head of a row, in f64. Keys and values are those of the span. */
export function spanAttentionReference(
  query: Float32Array,
  keys: readonly Float32Array[],
  values: readonly Float32Array[],
  { scale, softcap }: Pick<SpanAttentionOptions, "scale" | "softcap">,
  biases: readonly number[] = keys.map(() => 0),
): Float64Array {
  const scores = keys.map((key, i) => {
    const score = scale * (key.reduce((sum, value, k) => sum + value * query[k], 0) + biases[i]);
    return softcap === undefined ? score : softcap * Math.tanh(score / softcap);
  });
  const peak = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - peak));
  const total = weights.reduce((a, b) => a + b, 0);
  return Float64Array.from(
    values[0],
    (_, column) => weights.reduce((sum, weight, i) => sum + weight / total * values[i][column], 0),
  );
}

/** The facts of these operations, from their operands. */
export const spanOperands = {
  /** y = the rows of x with the row's numbers, side by side, for `rows` rows: [rows, taps, x.stride]. */
  gatherRows(x: FloatRows, sources: Buffer, y: FloatRows, { taps }: { taps: number }) {
    const bytes = taps * x.stride * FLOAT;
    return described("gather rows", [x, sources], [y], {
      reads: bytes + taps * FLOAT,
      writes: bytes,
      flops: 0,
    });
  },
  /**
   * y = softmax((q k^T + positions) * scale) v over the rows of the row's span, [first, end), for `rows`
   * rows; zeros for an empty span: y [rows, heads * valueDim].
   */
  spanAttention(
    queries: Columns,
    keys: Columns,
    values: Columns,
    spans: Buffer,
    y: FloatRows,
    { heads, headDim, valueDim }: SpanAttentionOptions,
    positions?: RelativePositions,
  ) {
    const reads = [queries, keys, values, spans];
    const relative = positions ? [positions.queries, positions.table] : [];
    const sides = positions ? 2 : 1;
    const work: Operation["work"] = ({ rows, positions }) => ({
      bytesRead: (rows * (sides * heads * headDim) + positions * heads * (headDim + valueDim)) *
        FLOAT,
      bytesWritten: rows * heads * valueDim * FLOAT,
      flops: 2 * rows * heads * positions * (sides * headDim + valueDim),
    });
    return described("span attention", [...reads, ...relative], [y], work);
  },
};
