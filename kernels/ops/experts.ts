// Mixtures of experts: which experts each row goes to and with what weights, the products of each
// pair of a row and an expert chosen for it, and the weighted sum of a row's pairs. The experts are
// one matrix, row after row. Each with its plain reference.

import type { Allocator, Buffer, Operation } from "../operation.ts";
import type { ActivationFunction } from "./activation_function.ts";

/** No groups: all experts are of one. */
export const ONE_GROUP = { count: 1, used: 1 };

/**
 * How logits become weights: probabilities over all experts by softmax or sigmoid, or the softmax
 * over the logits of the chosen ones (gpt-oss).
 */
export type Gating = "softmax" | "sigmoid" | "softmax of selected";

/** How experts are chosen and weighted; in this order: choose, normalize, scale. */
export interface RouteOptions {
  gating: Gating;
  /** [experts] f32, added to probabilities for the choice only (DeepSeek-V3). */
  bias?: Buffer;
  /** Only experts of the `used` best of `count` groups are chosen: those whose two best scores sum highest. */
  groups?: { count: number; used: number };
  /** Divides the weights of a row by their sum, or by 2^-14 if that is more. */
  normalize?: boolean;
  /** Multiplies every weight. Default 1. */
  scale?: number;
}

/** The pairs of a row and an expert chosen for it: pair = row * topK + choice, best first. */
export interface Routing {
  readonly experts: number;
  /** Experts of each row. */
  readonly topK: number;
  /** [rows, topK] u32. */
  readonly ids: Buffer;
  /** [rows, topK] f32. */
  readonly weights: Buffer;
  /** [1] u32: pairs of the step. */
  readonly count: Buffer;
}

/** Allocates the pairs of `rows` rows. */
export function allocateRouting(
  device: Allocator,
  rows: number,
  shape: { experts: number; topK: number },
): Routing {
  const bytes = rows * shape.topK * 4;
  const ids = device.buffer("expert ids", bytes, "scratch");
  const weights = device.buffer("expert weights", bytes, "scratch");
  const count = device.buffer("expert pairs", 4, "scratch");
  return { ...shape, ids, weights, count };
}

/** The choice for one row in plain numbers. */
export function routeReference(
  logits: Float32Array,
  topK: number,
  options: Omit<RouteOptions, "bias"> & { bias?: Float32Array },
): { ids: number[]; weights: number[] } {
  const { gating, bias, groups = ONE_GROUP, normalize = false, scale = 1 } = options;
  const greatest = logits.reduce((a, b) => Math.max(a, b));
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit - greatest), 0);
  const probability = (logit: number) =>
    gating === "sigmoid" ? 1 / (1 + Math.exp(-logit)) : Math.exp(logit - greatest) / total;
  const selected = gating === "softmax of selected";
  const ranksLogits = selected || !(bias || groups.used < groups.count);
  const scores = Array.from(
    logits,
    (logit, i) => (ranksLogits ? logit : probability(logit)) + (bias?.[i] ?? 0),
  );
  maskGroups(scores, groups);
  const ids = best(scores).slice(0, topK);
  const chosen = ids.map((id) => probability(logits[id]));
  const sum = chosen.reduce((sum, weight) => sum + weight, 0);
  const divisor = selected ? sum : normalize ? Math.max(sum, 2 ** -14) : 1;
  return { ids, weights: chosen.map((weight) => weight / divisor * scale) };
}

/** Indices of values, highest value first, lowest index first among equals. */
function best(values: number[]): number[] {
  return values.map((_, i) => i).sort((a, b) => values[b] - values[a] || a - b);
}

function maskGroups(scores: number[], { count, used }: { count: number; used: number }): void {
  const size = scores.length / count;
  const sums = Array.from({ length: count }, (_, group) => {
    const members = scores.slice(group * size, (group + 1) * size);
    return best(members).slice(0, 2).reduce((sum, i) => sum + members[i], 0);
  });
  for (const group of best(sums).slice(used)) {
    scores.fill(-Infinity, group * size, (group + 1) * size);
  }
}

/** The pairs of a step, grouped by expert. All layers share one, one layer after the other. */
export interface ExpertPairs extends Operation {
  readonly routing: Routing;
}

/** How pairs are grouped. */
export interface ExpertPairsOptions {
  /** Width of tiles instead of what the device would choose; with 1, pairs are never grouped. */
  cols?: number;
}

/** What a tile's expert is if it is empty, and a pair if there is none. */
export const NO_PAIR = 0xffffffff;

/** The tiles in plain loops: [pairs / cols + experts, 1 + cols]. */
export function expertPairsReference(
  ids: ArrayLike<number>,
  { experts, cols }: { experts: number; cols: number },
): Uint32Array {
  const tiles = new Uint32Array((Math.floor(ids.length / cols) + experts) * (1 + cols)).fill(
    NO_PAIR,
  );
  const pairs = Array.from(ids, (_, pair) => pair);
  for (let expert = 0; expert < experts; expert++) {
    const lower = pairs.filter((pair) => ids[pair] < expert).length;
    const first = Math.floor(lower / cols) + expert;
    pairs.filter((pair) => ids[pair] === expert).forEach((pair, rank) => {
      const at = (first + Math.floor(rank / cols)) * (1 + cols);
      tiles[at] = expert;
      tiles[at + 1 + rank % cols] = pair;
    });
  }
  return tiles;
}

/** How pairs read x, and how the product is done. */
export interface ExpertLinearOptions {
  /** Pairs that read the same row of x: `topK` where x has a row per token, 1 per pair. */
  share: number;
  /** Vectors side by side in a row of a step, each of which x takes for a row of its own. Default 1. */
  vectors?: number;
  /** What a paired matrix applies to its gate. Default "silu". */
  activation?: ActivationFunction;
}

/** The product in plain loops: weights [experts, rows, columns], x [pairs / share, columns]. */
export function expertLinearReference(
  weights: Float32Array,
  x: Float32Array,
  ids: ArrayLike<number>,
  { rows, columns, share }: { rows: number; columns: number; share: number },
): Float32Array {
  const y = new Float32Array(ids.length * rows); // [pairs, rows]
  for (let i = 0; i < y.length; i++) {
    const pair = Math.floor(i / rows);
    const w = (ids[pair] * rows + i % rows) * columns;
    const from = Math.floor(pair / share) * columns;
    let sum = 0;
    for (let k = 0; k < columns; k++) sum += x[from + k] * weights[w + k];
    y[i] = sum;
  }
  return y;
}

/** How the experts' results are summed. */
export interface CombineOptions {
  /** Adds to y instead of replacing it. */
  accumulate?: boolean;
  /** False where the weights have been used before. Default true. */
  weighted?: boolean;
}

/** The sum in plain loops: x [rows, topK, columns], weights [rows, topK]. */
export function combineReference(
  x: Float32Array,
  weights: ArrayLike<number>,
  { topK, columns }: { topK: number; columns: number },
): Float32Array {
  const y = new Float32Array(x.length / topK); // [rows, columns]
  for (let i = 0; i < y.length; i++) {
    const first = Math.floor(i / columns) * topK;
    let sum = 0;
    for (let c = 0; c < topK; c++) {
      sum += weights[first + c] * x[(first + c) * columns + i % columns];
    }
    y[i] = sum;
  }
  return y;
}
