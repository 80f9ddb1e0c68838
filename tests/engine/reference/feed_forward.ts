// Feed-forward blocks: gated (Shazeer 2020) and not; and mixtures of experts (Shazeer et al. 2017) as
// DeepSeek (2024), Qwen (2024) and OpenAI (2025) have them.

import { add, multiply, scale, sigmoid, silu, softmax, sum, type Vector } from "./numbers.ts";
import type { RandomWeights } from "./weights.ts";

/** What makes the hidden vector of gate and up projections. */
export type Gate = (gate: Vector, up: Vector) => Vector;

/** silu(gate) * up */
export function swiglu(gate: Vector, up: Vector): Vector {
  return multiply(gate.map(silu), up);
}

/** gpt-oss: both clamped, the gate by a steeper sigmoid, and one added to up. */
export function clampedSwish(gate: Vector, up: Vector): Vector {
  return gate.map((g, i) => {
    const bounded = Math.min(g, 7);
    return bounded * sigmoid(1.702 * bounded) * (Math.max(-7, Math.min(7, up[i])) + 1);
  });
}

/** down(gate(x)) of ffn_gate, ffn_up and ffn_down. */
export function feedForward(
  layer: RandomWeights,
  x: Vector,
  hidden: number,
  { gate = swiglu, suffix = "", bias = false }: { gate?: Gate; suffix?: string; bias?: boolean } =
    {},
): Vector {
  const part = (name: string) => layer.linear(`ffn_${name}${suffix}`, x, hidden, { bias });
  const inner = gate(part("gate"), part("up"));
  return layer.linear(`ffn_down${suffix}`, inner, x.length, { bias });
}

/** down(f(up(x))), with biases. */
export function ungated(
  layer: RandomWeights,
  x: Vector,
  hidden: number,
  f: (x: number) => number,
  { bias = true } = {},
): Vector {
  const inner = layer.linear("ffn_up", x, hidden, { bias }).map(f);
  return layer.linear("ffn_down", inner, x.length, { bias });
}

/** How experts are chosen. */
export interface Mixture {
  experts: number;
  /** Experts of a token. */
  chosen: number;
  hidden: number;
  /** Scores of experts from their logits; default softmax. */
  score?: (logits: Vector) => Vector;
  /** Whether the weights of a token sum to one. */
  normalized?: boolean;
  /** Factor of the weights. */
  factor?: number;
  /** Only the best of these groups are chosen from, by the sums of their two best experts. */
  groups?: { count: number; chosen: number };
  /** Added to scores for the choice alone. */
  choiceBias?: Vector;
  gate?: Gate;
  /** Of the router and of all projections. */
  bias?: boolean;
}

/** Sum of what the chosen experts make of x. */
export function mixture(layer: RandomWeights, x: Vector, options: Mixture): Vector {
  const { experts, hidden, gate = swiglu, bias = false } = options;
  const router = { float: true, gain: 3, bias };
  const logits = layer.linear("ffn_gate_inp", x, experts, router);
  return sum(
    choose(logits, options).map(({ index, weight }) => {
      const expert = { index, experts };
      const part = (name: string) => layer.expert(`ffn_${name}_exps`, expert, x, hidden, { bias });
      const inner = gate(part("gate"), part("up"));
      return scale(layer.expert("ffn_down_exps", expert, inner, x.length, { bias }), weight);
    }),
  );
}

function choose(logits: Vector, options: Mixture): { index: number; weight: number }[] {
  const { chosen, score = softmax, normalized = false, factor = 1, groups, choiceBias } = options;
  const scores = score(logits);
  const preferred = choiceBias ? add(scores, choiceBias) : scores;
  const allowed = groups ? inBestGroups(preferred, groups) : preferred.map((_, i) => i);
  const best = ranked(allowed, preferred).slice(0, chosen);
  const total = normalized ? best.reduce((sum, i) => sum + scores[i], 0) : 1;
  return best.map((index) => ({ index, weight: factor * scores[index] / total }));
}

function inBestGroups(scores: Vector, { count, chosen }: { count: number; chosen: number }) {
  const size = scores.length / count;
  const members = Array.from(
    { length: count },
    (_, group) => Array.from({ length: size }, (_, i) => group * size + i),
  );
  const sums = members.map((group) => {
    const [first, second] = ranked(group, scores);
    return scores[first] + scores[second];
  });
  return ranked(members.map((_, group) => group), sums).slice(0, chosen).flatMap((i) => members[i]);
}

/** Indices, the highest score first. */
function ranked(indices: readonly number[], scores: Vector): number[] {
  return [...indices].sort((a, b) => scores[b] - scores[a]);
}
