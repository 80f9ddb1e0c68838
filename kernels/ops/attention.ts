// Attention over the paged KV cache: its options, how query rows and positions are divided among
// workgroups, and its plain reference. rotate.ts rotates and writes the cache.

import type { Buffer } from "../operation.ts";
import type { HeadShape } from "./kv_cache.ts";

/** How query rows and positions are divided among workgroups. */
export interface AttentionTiling {
  /** Rows of one sequence per workgroup: 1 in decode. */
  tileRows: number;
  /** Fewest positions per split. It is doubled until a context has at most `maxSplits`. */
  split: number;
  /** Most splits of a context. */
  maxSplits: number;
  /** The query tiles: [tiles] of {@linkcode QUERY_TILE}. */
  tiles: Buffer;
  /** Scratch memory of `partialBytes`, shared by all layers. */
  partials: Buffer;
}

/**
 * Most splits of a context. Longer contexts get longer splits, because this number occupies any
 * device.
 */
export const MOST_SPLITS = 64;

/** Bytes of the splits' partial results. */
export function partialBytes(shape: HeadShape, rows: number, maxSplits: number): number {
  const { heads, headDim, valueDim = headDim } = shape;
  return rows * heads * maxSplits * (16 + valueDim * 4);
}

/**
 * The plain reference: q [tokens, heads, headDim], k and v [tokens, kvHeads, ...]. With `from`,
 * only the results of the tokens from there on.
 */
export function attentionReference(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  options: ReferenceOptions & { from?: number },
): Float32Array {
  const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false, from = 0 } = options;
  const tokens = q.length / (heads * headDim);
  const values = sharedValues ? k : v;
  const valueStride = sharedValues ? headDim : valueDim;
  const y = new Float32Array((tokens - from) * heads * valueDim); // [tokens, heads, valueDim]
  for (let t = from; t < tokens; t++) {
    const query = q.subarray(t * heads * headDim, (t + 1) * heads * headDim);
    const weights = attentionWeights(query, k, t, options); // [heads, tokens]
    for (let h = 0; h < heads; h++) {
      const kv = Math.floor(h * kvHeads / heads);
      const own = weights.subarray(h * tokens, (h + 1) * tokens);
      for (let d = 0; d < valueDim; d++) {
        const value = own.reduce(
          (total, weight, p) => total + weight * values[(p * kvHeads + kv) * valueStride + d],
          0,
        );
        y[((t - from) * heads + h) * valueDim + d] = value;
      }
    }
  }
  return y;
}

/** What the plain reference of attention takes besides its rows. */
export interface ReferenceOptions extends Omit<AttentionOptions, "sinks" | "first"> {
  sinks?: Float32Array;
  /** Position ranges of images: first position, and end. */
  images?: readonly (readonly [first: number, end: number])[];
}

/**
 * The weights by which one query adds up values: those of each head sum to one, with what a sink
 * takes. The query [heads, headDim] is at position `at`, keys are [positions, kvHeads, headDim]; the
 * result is [heads, positions], zero where a position is not seen.
 */
export function attentionWeights(
  query: Float32Array,
  keys: Float32Array,
  at: number,
  options: ReferenceOptions,
): Float64Array {
  const { heads, kvHeads, headDim, scale, softcap = 0, sinks, alibi = 0, temperature } = options;
  const positions = keys.length / (kvHeads * headDim);
  const seen = Array.from({ length: positions }, (_, p) => p).filter((p) => sees(options, at, p));
  const slopes = alibiSlopes(heads, alibi);
  const heat = temperature
    ? 1 +
      temperature.scale * Math.log(Math.floor((at + temperature.offset) / temperature.length) + 1)
    : 1;
  const all = new Float64Array(heads * positions);
  for (let h = 0; h < heads; h++) {
    const kv = Math.floor(h * kvHeads / heads);
    const scores = seen.map((p) => {
      let dot = 0;
      for (let d = 0; d < headDim; d++) {
        dot += query[h * headDim + d] * keys[(p * kvHeads + kv) * headDim + d];
      }
      const score = dot * heat * scale;
      const capped = softcap > 0 ? softcap * Math.tanh(score / softcap) : score;
      return alibi > 0 ? capped - slopes[h] * Math.abs(at - p) : capped;
    });
    const sink = sinks?.[h] ?? -Infinity;
    const peak = scores.reduce((most, score) => Math.max(most, score), sink);
    const weights = scores.map((score) => Math.exp(score - peak));
    const sum = weights.reduce((a, b) => a + b, Math.exp(sink - peak));
    seen.forEach((p, i) => all[h * positions + p] = weights[i] / sum);
  }
  return all;
}

/** Whether the query at one position attends to the key at another. */
function sees(
  { window, causal = true, bidirectionalImages = false, images = [] }: ReferenceOptions,
  query: number,
  key: number,
): boolean {
  const inOneImage = images.some(([first, end]) => first <= query && query < key && key < end);
  if (causal && key > query && !(bidirectionalImages && inOneImage)) return false;
  if (window?.kind === "sliding") return key > query - window.size;
  if (window?.kind === "chunked") return key >= query - query % window.size;
  if (window?.kind === "symmetric") return Math.abs(query - key) <= Math.floor(window.size / 2);
  return true;
}

/** The window of keys that a query attends to. */
export interface AttentionWindow {
  /**
   * sliding: the last `size` positions up to the query's (and all after it if not causal). chunked:
   * those from the start of the query's chunk on, where chunks have `size` positions. symmetric:
   * those at most `size / 2`, rounded down, away.
   */
  kind: "sliding" | "chunked" | "symmetric";
  /** Number of positions, at least 1. */
  size: number;
}

/** Heads and arithmetic of an attention layer. */
export interface AttentionOptions extends HeadShape {
  /** Factor of q . k. */
  scale: number;
  /**
   * Soft cap of the scaled score s, which becomes softcap * tanh(s / softcap); 0 or missing: none.
   */
  softcap?: number;
  /** Missing: every query attends to all keys that `causal` allows. */
  window?: AttentionWindow | undefined;
  /** Attention sinks, [heads] f32: for each head a logit in the softmax that has no value. */
  sinks?: Buffer | undefined;
  /**
   * ALiBi: the largest bias per position of distance, as the exponent of a power of 1/2; 0 or
   * missing: none.
   */
  alibi?: number;
  /**
   * Whether queries attend to no later keys. Otherwise they attend to the sequence up to the step's
   * end.
   */
  causal?: boolean;
  /**
   * Whether rows of an image attend to each other in both directions: to all keys of the image, which
   * a row's tile names. A sliding window still bounds how far back they attend.
   */
  bidirectionalImages?: boolean;
  /**
   * Factor of a query at position p: 1 + scale * ln(floor((p + offset) / length) + 1). Length and
   * offset are whole numbers.
   */
  temperature?: { scale: number; length: number; offset: number } | undefined;
  /** Column of the first query head in its row, a multiple of four; default 0. */
  first?: number;
}

/**
 * The bias per position of distance for each head: powers of 2^(-maxBias / n), where n is a power
 * of two.
 */
export function alibiSlopes(heads: number, maxBias: number): Float32Array {
  const regular = 2 ** Math.floor(Math.log2(heads));
  // Heads beyond a power of two have slopes half way between those of the others.
  const exponent = (head: number) => head < regular ? head + 1 : head - regular + 0.5;
  return Float32Array.from(
    { length: heads },
    (_, head) => 2 ** (-maxBias / regular * exponent(head)),
  );
}
