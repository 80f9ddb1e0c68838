// The online softmax of attention (Milakov and Gimelshein 2018). Each query's data is in a thread's
// memory: the scores of a block of keys, which are turned into weights; the results so far; and the
// greatest score and the sum of weights with which these were computed.
//
// Positions are divided into parts of PART, counted from a sequence's beginning. Each part has a
// softmax of its own, and their results are added in the order of the parts. So threads can share
// one row's parts, and a row has the same bits wherever it is computed.

import {
  type Expression,
  f32,
  f32x4,
  type FunctionBuilder,
  i32,
  i32x4,
  type Local,
  type Memory,
  shuffleLanes,
  type V128,
  v128,
} from "../wasm/mod.ts";
import { exponential, type Madd } from "../activate/kernel.ts";
import { lanes } from "../formats/scales.ts";
import { BLOCK } from "../../ops/kv_cache.ts";
import { forColumns } from "../vectors.ts";

/** Positions of a part: a multiple of BLOCK, and few enough for threads to share a few hundred. */
export const PART = 256;

/**
 * The score of masked positions, whose exponential is zero. Their sum of weights is zero, too, so
 * that adding them changes nothing.
 */
export const LOWEST = -3e38;

const ZERO = v128.const(new Uint8Array(16));

/** An address in a thread's memory. */
export interface PanelAddress {
  readonly at: Expression<"i32">;
  readonly offset: number;
}

/** The data of a query in a thread's memory, as offsets. */
export interface QueryLayout {
  readonly query: number;
  readonly results: number;
  readonly scores: number;
  readonly maximum: number;
  readonly sum: number;
  /** The factor of the results so far once a block's scores are weights. */
  readonly correction: number;
  /** The results of the earlier parts, with their maximum and sum. */
  readonly earlier: { readonly results: number; readonly maximum: number; readonly sum: number };
  readonly bytes: number;
}

/** The layout of a query's data. */
export function queryLayout(headDim: number, valueDim: number): QueryLayout {
  const results = 4 * headDim;
  const scores = results + 4 * valueDim;
  const maximum = scores + 4 * BLOCK;
  const earlier = maximum + 16;
  const end = earlier + 4 * valueDim;
  return {
    query: 0,
    results,
    scores,
    maximum,
    sum: maximum + 4,
    correction: maximum + 8,
    earlier: { results: earlier, maximum: end, sum: end + 4 },
    bytes: end + 16,
  };
}

/** The layout of a query that lies so many bytes further. */
export function movedLayout(layout: QueryLayout, by: number): QueryLayout {
  const { earlier, bytes, ...own } = layout;
  const move = <T extends object>(offsets: T) =>
    Object.fromEntries(Object.entries(offsets).map(([name, offset]) => [name, offset + by])) as T;
  return { ...move(own), earlier: move(earlier), bytes };
}

/** Most vectors for which a loop is unrolled. */
const MOST_UNROLLED = 16;

/** Runs `body` for each vector of columns from an address on, given its address and a constant offset. */
function forVectors(
  f: FunctionBuilder,
  at: Expression<"i32">,
  columns: number,
  body: (address: Expression<"i32">, vector: number) => void,
): void {
  forColumns(f, columns, MOST_UNROLLED, (vectors, column) => {
    const address = columns <= 4 * MOST_UNROLLED ? at : f.let(i32.add(at, i32.mul(column, 4)));
    for (let i = 0; i < vectors; i++) body(address, i);
  });
}

/** Sets the results of a query to none. */
export function clearResults(
  f: FunctionBuilder,
  panel: Memory,
  at: Expression<"i32">,
  { results, maximum, sum }: Pick<QueryLayout, "results" | "maximum" | "sum">,
  valueDim: number,
): void {
  forVectors(f, at, valueDim, (to, i) => f.do(panel.v128.store(to, ZERO, results + 16 * i)));
  f.do(panel.f32.store(at, f32.const(LOWEST), maximum));
  f.do(panel.f32.store(at, f32.const(0), sum));
}

/** Replaces a block's scores by cap * tanh(score / cap). Masked ones stay masked. */
export function capScores(
  f: FunctionBuilder,
  panel: Memory,
  { at, offset }: PanelAddress,
  bits: Local<"i32">,
): void {
  const cap = f.let(f32x4.splat(f32.reinterpret_i32(bits)));
  const two = lanes(f, Float32Array.of(2));
  const one = lanes(f, Float32Array.of(1));
  const i = f.let(i32.const(0));
  f.forUpTo(i, 4 * BLOCK, 16, () => {
    // As 1 - 2 / (exp(2u) + 1).
    const place = f.let(i32.add(at, i));
    const score = f.let(panel.v128.load(place, offset));
    const power = f.let(exponential(f, f.let(f32x4.div(f32x4.mul(score, two), cap))));
    const capped = f32x4.mul(cap, f32x4.sub(one, f32x4.div(two, f32x4.add(power, one))));
    const isNone = f32x4.le(score, lanes(f, Float32Array.of(LOWEST)));
    f.do(panel.v128.store(place, v128.bitselect(score, f.let(capped), isNone), offset));
  });
}

/** Subtracts slope * |query's position - key's| from a block's scores; `distance` is that of the first key. */
export function biasScores(
  f: FunctionBuilder,
  panel: Memory,
  { at, offset }: PanelAddress,
  slope: Expression<"v128">,
  distance: Expression<"i32">,
): void {
  const first = f.constant(new Uint8Array(Int32Array.of(0, 1, 2, 3).buffer));
  const distances = f.let(f32x4.convert_i32x4_s(i32x4.sub(i32x4.splat(distance), first)));
  const factor = f.let(slope);
  const i = f.let(i32.const(0));
  f.forUpTo(i, 4 * BLOCK, 16, () => {
    const place = f.let(i32.add(at, i));
    const bias = f32x4.mul(factor, f32x4.abs(distances));
    f.do(panel.v128.store(place, f32x4.sub(panel.v128.load(place, offset), bias), offset));
    f.set(distances, f32x4.sub(distances, lanes(f, Float32Array.of(4))));
  });
}

/** Masks the scores of positions before `from` and from `to` on, counted from the block's first. */
export function maskScores(
  f: FunctionBuilder,
  panel: Memory,
  { at, offset }: PanelAddress,
  from: Local<"i32">,
  to: Local<"i32">,
): void {
  const least = f.let(i32x4.splat(from));
  const after = f.let(i32x4.splat(to));
  for (let i = 0; i < BLOCK; i += 4) {
    const place = f.constant(new Uint8Array(Int32Array.of(i, i + 1, i + 2, i + 3).buffer));
    const isSeen = v128.andnot(i32x4.lt_s(place, after), i32x4.lt_s(place, least));
    const score = panel.v128.load(at, offset + 4 * i);
    const seen = v128.bitselect(score, lanes(f, Float32Array.of(LOWEST)), isSeen);
    f.do(panel.v128.store(at, seen, offset + 4 * i));
  }
}

/** Reduces vectors by pairs, which do not wait for each other. */
function reducePairs(
  f: FunctionBuilder,
  vectors: readonly Local<"v128">[],
  combine: (a: V128, b: V128) => V128,
): V128 {
  if (vectors.length === 1) return vectors[0]!;
  const half = vectors.length / 2;
  const pairs = vectors.slice(0, half).map((own, i) => f.let(combine(own, vectors[half + i]!)));
  return reducePairs(f, pairs, combine);
}

/**
 * Converts a query's scores into weights. Results with the earlier maximum have to be multiplied by the
 * correction that is stored.
 *
 * @param factor factor of the stored weights, a power of two; it is not part of their sum
 * @param joined where scores are copied to, and their weights from: V8 joins vectors only at constant addresses
 */
export function weighScores(
  f: FunctionBuilder,
  panel: Memory,
  at: Expression<"i32">,
  layout: QueryLayout,
  madd: Madd,
  factor = 1,
  joined?: { readonly scores: number; readonly weights: number },
): void {
  const given = { at, offset: layout.scores };
  const scores = joined ? { at: i32.const(0), offset: joined.scores } : given;
  const to = joined ? { at: i32.const(0), offset: joined.weights } : given;
  const load = (i: number) => f.let(panel.v128.load(given.at, given.offset + 4 * i));
  const all = Array.from({ length: BLOCK / 4 }, (_, i) => load(4 * i));
  if (joined) {
    all.forEach((score, i) => f.do(panel.v128.store(scores.at, score, scores.offset + 16 * i)));
  }
  const peaks = f.let(reducePairs(f, all, f32x4.pmax));
  const before = f.let(panel.v128.load32_splat(at, layout.maximum));
  f.set(peaks, f32x4.pmax(peaks, before));
  f.set(peaks, f32x4.pmax(peaks, shuffleLanes(peaks, peaks, [2, 3, 0, 1])));
  f.set(peaks, f32x4.pmax(peaks, shuffleLanes(peaks, peaks, [1, 0, 3, 2])));
  f.do(panel.f32.store(at, f32x4.extract_lane(peaks, 0), layout.maximum));
  const peak = f.let(panel.v128.load32_splat(at, layout.maximum));
  // Stored all at once, which is where V8 begins to join, at constant addresses.
  const weights = Array.from({ length: BLOCK / 4 }, (_, i) => {
    const score = f.let(panel.v128.load(scores.at, scores.offset + 16 * i));
    const weight = exponential(f, f.let(f32x4.sub(score, peak)), madd);
    const isNone = f32x4.le(score, lanes(f, Float32Array.of(LOWEST)));
    return f.let(v128.andnot(f.let(weight), isNone));
  });
  weights.forEach((weight, i) => {
    const stored = factor === 1 ? weight : f32x4.mul(weight, lanes(f, Float32Array.of(factor)));
    f.do(panel.v128.store(to.at, stored, to.offset + 16 * i));
  });
  const stored = joined
    ? weights.map((_, i) => f.let(panel.v128.load(to.at, to.offset + 16 * i)))
    : weights;
  if (joined) {
    stored.forEach((weight, i) => f.do(panel.v128.store(given.at, weight, given.offset + 16 * i)));
  }
  const sum = f.let(reducePairs(f, stored, f32x4.add));
  const two = f.let(f32x4.add(sum, shuffleLanes(sum, sum, [2, 3, 0, 1])));
  const own = f32.add(f32x4.extract_lane(two, 0), f32x4.extract_lane(two, 1));
  const correction = f.let(exponential(f, f.let(f32x4.sub(before, peaks)), madd));
  const corrected = f32.mul(
    panel.f32.load(at, layout.sum),
    f32x4.extract_lane(correction, 0),
  );
  f.do(panel.f32.store(at, f32.add(corrected, own), layout.sum));
  f.do(panel.f32.store(at, f32x4.extract_lane(correction, 0), layout.correction));
}

/** The results of a softmax: unnormalized, with their maximum and sum. */
export interface PartResults {
  readonly memory: Memory;
  readonly at: Expression<"i32">;
  readonly results: number;
  readonly maximum: number;
  readonly sum: number;
}

/** Adds the results of a part to those of the parts before it. */
export function addPart(
  f: FunctionBuilder,
  earlier: PartResults,
  part: PartResults,
  valueDim: number,
): void {
  const both = [earlier, part];
  const maxima = both.map(({ memory, at, maximum }) =>
    f.let(memory.v128.load32_splat(at, maximum))
  );
  const peak = f.let(f32x4.max(maxima[0], maxima[1]));
  const factors = maxima.map((maximum) => f.let(exponential(f, f.let(f32x4.sub(maximum, peak)))));
  const sums = both.map(({ memory, at, sum }, i) =>
    f32.mul(memory.f32.load(at, sum), f32x4.extract_lane(factors[i], 0))
  );
  const { memory, at } = earlier;
  f.do(memory.f32.store(at, f32.add(sums[0], sums[1]), earlier.sum));
  f.do(memory.f32.store(at, f32x4.extract_lane(peak, 0), earlier.maximum));
  forColumns(f, valueDim, MOST_UNROLLED, (vectors, column) => {
    const places = both.map(({ at }) => f.let(i32.add(at, i32.mul(column, 4))));
    for (let i = 0; i < 4 * vectors; i += 4) {
      const [first, second] = both.map((of, j) =>
        f32x4.mul(of.memory.v128.load(places[j], of.results + 4 * i), factors[j])
      );
      f.do(memory.v128.store(places[0], f32x4.add(first, second), earlier.results + 4 * i));
    }
  });
}
