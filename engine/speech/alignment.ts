// When each token of a transcript was spoken, by the attention of some heads to the encoder's rows:
// normalised over the tokens, smoothed over time by a median, and then the cheapest way through it that
// goes back neither in the text nor in time (dynamic time warping, Sakoe and Chiba 1978), as OpenAI's
// own program finds it. Plain loops over numbers; whoever calls decides when they pause.

import { exponential } from "../../kernels/mod.ts";
import type { HeadAttention } from "./alignment_heads.ts";

/** Values that the median is taken of. */
const MEDIAN_WIDTH = 7;

/**
 * How strongly each token attends to each row: the mean of the heads, [tokens, rows]. Yields now and
 * then.
 *
 * @param rows the encoder's rows that are sound; the others count for nothing
 */
export function* attentionMatrix(
  heads: readonly HeadAttention[],
  tokens: number,
  rows: number,
): Generator<void, Float64Array> {
  const mean = new Float64Array(tokens * rows);
  for (const head of heads) {
    const weights = yield* softmaxOf(head, tokens, rows);
    normalise(weights, tokens, rows);
    for (let token = 0; token < tokens; token++) {
      const row = weights.subarray(token * rows, (token + 1) * rows);
      const smooth = smoothed(row);
      for (let i = 0; i < rows; i++) mean[token * rows + i] += smooth[i] / heads.length;
      yield;
    }
  }
  return mean;
}

/** The attention of a head: [tokens, rows]. */
function* softmaxOf(
  { queries, keys }: HeadAttention,
  tokens: number,
  rows: number,
): Generator<void, Float64Array> {
  const size = queries.length / tokens;
  const weights = new Float64Array(tokens * rows);
  for (let token = 0; token < tokens; token++) {
    const query = queries.subarray(token * size, (token + 1) * size);
    const scores = weights.subarray(token * rows, (token + 1) * rows);
    let most = -Infinity;
    for (let row = 0, at = 0; row < rows; row++) {
      let sum = 0;
      for (let i = 0; i < size; i++, at++) sum += query[i] * keys[at];
      scores[row] = sum / Math.sqrt(size);
      most = Math.max(most, scores[row]);
    }
    let total = 0;
    for (let row = 0; row < rows; row++) total += scores[row] = exponential(scores[row] - most);
    for (let row = 0; row < rows; row++) scores[row] /= total;
    yield;
  }
  return weights;
}

/** Gives the weights of each row, over all tokens, a mean of zero and a deviation of one. In place. */
function normalise(weights: Float64Array, tokens: number, rows: number): void {
  for (let row = 0; row < rows; row++) {
    let [sum, squares] = [0, 0];
    for (let at = row; at < weights.length; at += rows) sum += weights[at];
    const mean = sum / tokens;
    for (let at = row; at < weights.length; at += rows) squares += (weights[at] - mean) ** 2;
    const deviation = Math.sqrt(squares / tokens);
    for (let at = row; at < weights.length; at += rows) {
      weights[at] = deviation === 0 ? 0 : (weights[at] - mean) / deviation;
    }
  }
}

/** The median of each value and its neighbours; those beyond an end are mirrored at it. */
function smoothed(values: Float64Array): Float64Array {
  const half = (MEDIAN_WIDTH - 1) / 2;
  const last = values.length - 1;
  if (last < half) return values;
  const around = new Float64Array(MEDIAN_WIDTH);
  return values.map((_, at) => {
    for (let i = 0; i < MEDIAN_WIDTH; i++) {
      const from = Math.abs(at + i - half);
      const value = values[from > last ? 2 * last - from : from];
      let place = i;
      for (; place > 0 && around[place - 1] > value; place--) around[place] = around[place - 1];
      around[place] = value;
    }
    return around[half];
  });
}

/** The steps of a way: both further, the next token at the same row, and the next row alone. */
const [BOTH, TOKEN, ROW] = [0, 1, 2];

/**
 * The row at which the way with the largest sum reaches each token. The way begins with the first
 * token at the first row, and ends with the last ones.
 *
 * @param matrix [tokens, rows]
 */
export function* warp(
  matrix: Float64Array,
  tokens: number,
  rows: number,
): Generator<void, Int32Array> {
  const steps = new Uint8Array(tokens * rows);
  let before = new Float64Array(rows + 1).fill(Infinity);
  before[0] = 0;
  for (let token = 0, at = 0; token < tokens; token++) {
    const costs = new Float64Array(rows + 1).fill(Infinity);
    for (let row = 0; row < rows; row++, at++) {
      const [both, next, same] = [before[row], before[row + 1], costs[row]];
      steps[at] = both < next && both < same ? BOTH : next < both && next < same ? TOKEN : ROW;
      costs[row + 1] = [both, next, same][steps[at]] - matrix[at];
    }
    before = costs;
    yield;
  }
  const first = new Int32Array(tokens);
  for (let token = tokens - 1, row = rows - 1; token >= 0 && row >= 0;) {
    first[token] = row;
    const step = steps[token * rows + row];
    if (step !== ROW) token--;
    if (step !== TOKEN) row--;
  }
  return first;
}
