// What models do differently in attention, as options of attention.ts and of its reference.
// Papers: Press et al. 2022 (ALiBi); Beltagy et al. 2020 (sliding windows); Xiao et al. 2023 (sinks).

import type { HeadShape } from "./kv_cache.ts";

/** The keys near a query that it sees, of those that it would see without a window. */
export interface AttentionWindow {
  /**
   * sliding: the last `size` positions up to the query's (and all after it where not causal);
   * chunked: those from the start of the query's chunk on, chunks being `size` positions long;
   * symmetric: those at most `size / 2`, rounded down, away.
   */
  kind: "sliding" | "chunked" | "symmetric";
  /** Positions, at least 1. */
  size: number;
}

/** Heads and arithmetic of an attention layer. */
export interface AttentionOptions extends HeadShape {
  /** Factor of q . k. */
  scale: number;
  /** Bound of the scaled score s, which becomes softcap * tanh(s / softcap); 0 or missing: none. */
  softcap?: number;
  /** Missing: every query sees all keys that `causal` allows. */
  window?: AttentionWindow | undefined;
  /** [heads] f32: a logit of each head that takes weight and has no value. */
  sinks?: GPUBuffer | undefined;
  /** ALiBi: the largest bias per position of distance, as a power of 1/2; 0 or missing: none. */
  alibi?: number;
  /** Whether queries see no later keys. Otherwise they see the sequence up to the step's end. */
  causal?: boolean;
  /** Whether rows of an image see all of it, as their tiles say; their windows still end behind them. */
  wholeImages?: boolean;
  /**
   * Factor of a query at position p: 1 + scale * ln(floor((p + offset) / length) + 1), with whole
   * numbers for length and offset.
   */
  temperature?: { scale: number; length: number; offset: number } | undefined;
  /** Column of the first query head in its row, a multiple of four; default 0. */
  first?: number;
}

/** Bias per position of distance of each head: powers of 2^(-maxBias / n), n a power of two. */
export function alibiSlopes(heads: number, maxBias: number): Float32Array {
  const regular = 2 ** Math.floor(Math.log2(heads));
  // Heads past a power of two take the slopes half way between those of the regular ones.
  const exponent = (head: number) => head < regular ? head + 1 : head - regular + 0.5;
  return Float32Array.from(
    { length: heads },
    (_, head) => 2 ** (-maxBias / regular * exponent(head)),
  );
}
