// Attention (Vaswani et al. 2017) with grouped queries (Ainslie et al. 2023), sliding windows
// (Beltagy et al. 2020), soft caps (Gemma Team 2024) and sinks (OpenAI 2025).

import { add, dot, scale, softcap, softmax, split, sum, type Vector } from "./numbers.ts";
import { recording } from "./recording.ts";
import type { RandomWeights } from "./weights.ts";

/** What is not the same in all models. */
export interface AttentionOptions {
  /** Factor of the scores. Default 1 / sqrt(elements of a head). */
  factor?: number;
  /** Tokens that one sees, itself included. Default: all. */
  window?: number;
  /** Default: none. */
  cap?: number;
  /** A score of nothing for each head. */
  sinks?: Vector | undefined;
  /** What each head subtracts from a score for every token in between (Press et al. 2022). */
  slopes?: Vector;
  /** Whether later tokens are not seen. Default true. */
  causal?: boolean;
}

/** Result of each token, all heads as one vector: queries, keys and values are [tokens][heads]. */
export function attend(
  queries: readonly Vector[][],
  keys: readonly Vector[][],
  values: readonly Vector[][],
  options: AttentionOptions = {},
): Vector[] {
  const { factor, window = Infinity, cap, sinks, slopes, causal = true } = options;
  const patterns: Vector[][] = []; // [heads][tokens][tokens]
  const results = queries.map((heads, token) => {
    const seen = keys.map((_, at) => at).filter((at) => {
      return (!causal || at <= token) && token - at < window;
    });
    return heads.flatMap((query, head) => {
      const shared = Math.floor(head / (heads.length / keys[0].length));
      const scores = seen.map((at) => {
        const score = dot(query, keys[at][shared]) * (factor ?? 1 / Math.sqrt(query.length));
        const capped = cap ? softcap(score, cap) : score;
        return slopes ? capped - slopes[head] * Math.abs(token - at) : capped;
      });
      const weights = softmax(scores, sinks?.[head]);
      patterns[head] ??= [];
      patterns[head].push(keys.map((_, at) => weights[seen.indexOf(at)] ?? 0));
      return sum(seen.map((at, i) => scale(values[at][shared], weights[i])));
    });
  });
  recording?.keep("attention.queries", queries.map((heads) => heads.flat()));
  recording?.keep("attention.keys", keys.map((heads) => heads.flat()));
  recording?.keep("attention.values", values.map((heads) => heads.flat()));
  recording?.keep("attention.pattern", patterns.flat());
  recording?.keep("attention.z", results);
  return results;
}

/** Numbers of heads and their elements. */
export interface Heads {
  heads: number;
  kvHeads: number;
  headDim: number;
}

/** Heads of queries, keys and values of all tokens. */
export interface Projected {
  queries: Vector[][];
  keys: Vector[][];
  values: Vector[][];
}

/** attn_q, attn_k and attn_v of all tokens; queries larger, lest all tokens are seen alike. */
export function project(
  layer: RandomWeights,
  rows: readonly Vector[],
  { heads, kvHeads, headDim }: Heads,
  { bias = false } = {},
): Projected {
  const heads_ = (name: string, count: number, gain = 1) =>
    rows.map((x) => split(layer.linear(name, x, count * headDim, { bias, gain }), count));
  return {
    queries: heads_("attn_q", heads, 2),
    keys: heads_("attn_k", kvHeads),
    values: heads_("attn_v", kvHeads),
  };
}

/** Queries, keys and values of one tensor attn_qkv. */
export function projectFused(
  layer: RandomWeights,
  rows: readonly Vector[],
  { heads, kvHeads, headDim }: Heads,
  { bias = false } = {},
): Projected {
  const count = heads + 2 * kvHeads;
  const all = rows.map((x) => {
    return split(layer.linear("attn_qkv", x, count * headDim, { bias, gain: 2 }), count);
  });
  return {
    queries: all.map((vectors) => vectors.slice(0, heads)),
    keys: all.map((vectors) => vectors.slice(heads, heads + kvHeads)),
    values: all.map((vectors) => vectors.slice(heads + kvHeads)),
  };
}

/** The stream with what attention, or another mixer, adds to it. */
export function addRows(rows: readonly Vector[], more: readonly Vector[]): Vector[] {
  const sums = rows.map((x, i) => add(x, more[i]));
  recording?.keep("residual.mid", sums);
  return sums;
}
