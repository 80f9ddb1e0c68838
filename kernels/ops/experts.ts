// Mixtures of experts: the choice of experts and weights for each row, the products of each pair of
// a row and a chosen expert, and the weighted sum of a row's pairs. The experts are one matrix, row
// after row. Each operation has its plain reference.

import type { Allocator, Buffer, Operation } from "../operation.ts";
import type { ActivationFunction } from "./activation.ts";

/** A single group with all experts. */
export const ONE_GROUP = { count: 1, used: 1 };

/**
 * How logits become weights: probabilities over all experts by softmax or sigmoid, or the softmax
 * over the logits of the chosen ones (gpt-oss).
 */
export type Gating = "softmax" | "sigmoid" | "softmax of selected";

/**
 * How experts are chosen and weighted, in this order: choose, normalize, scale. An expert whose score is
 * NaN is chosen before others, so that what is damaged shows in the weights.
 */
export interface RouteOptions {
  gating: Gating;
  /** Biases that are added to probabilities for the choice only (DeepSeek-V3): [experts] f32. */
  bias?: Buffer;
  /**
   * Only experts of the best `used` of `count` groups are chosen. The score of a group is the sum
   * of its two best experts' scores.
   */
  groups?: { count: number; used: number };
  /** Whether to divide the weights of a row by their sum, or by 2^-14 if that is more. */
  normalize?: boolean;
  /** A factor of every weight. Default 1. */
  scale?: number;
}

/** The pairs of a row and a chosen expert: pair = row * topK + choice, best first. */
export interface Routing {
  readonly experts: number;
  /** Number of experts per row. */
  readonly topK: number;
  /** Expert of each pair: [rows, topK] u32. A row has each expert at most once. */
  readonly ids: Buffer;
  /** Weight of each pair: [rows, topK] f32. */
  readonly weights: Buffer;
  /** Number of pairs of the step: [1] u32. */
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

/** The plain reference of the choice for one row. */
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
  const scores = Array.from(logits, (logit, i) => {
    const score = (ranksLogits ? logit : probability(logit)) + (bias?.[i] ?? 0);
    return Number.isNaN(score) ? Infinity : score;
  });
  maskGroups(scores, groups);
  const ids = best(scores).slice(0, topK);
  const chosen = ids.map((id) => probability(logits[id]));
  const sum = chosen.reduce((sum, weight) => sum + weight, 0);
  const divisor = selected ? sum : normalize ? Math.max(sum, 2 ** -14) : 1;
  return { ids, weights: chosen.map((weight) => weight / divisor * scale) };
}

/** Indices of values, highest value first, and of equal values the lowest index first. */
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

/** The options of grouping. */
export interface ExpertPairsOptions {
  /** Width of tiles. Default: the device's choice. With 1, pairs are never grouped. */
  cols?: number;
  /** Whether each row has every expert, the first one first. Then nothing has to be grouped. */
  every?: boolean;
}

/** The expert of an empty tile, and the pair in an empty column of a tile. */
export const NO_PAIR = 0xffffffff;

/** The plain reference of the tiles: [pairs / cols + experts, 1 + cols]. */
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

/** How pairs read x, and the options of the product. */
export interface ExpertLinearOptions {
  /**
   * Number of pairs that read the same row of x: `topK` if x has a row per token, 1 if it has one
   * per pair.
   */
  share: number;
  /** Number of vectors side by side in a row, each of which counts as a row of x. Default 1. */
  vectors?: number;
  /** Activation of the gate in a paired matrix. Default "silu". */
  activation?: ActivationFunction;
}

/** The plain reference: weights [experts, rows, columns], x [pairs / share, columns]. */
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

/** The options of the sum over a row's pairs. */
export interface CombineOptions {
  /** Whether to add to y instead of replacing it. */
  accumulate?: boolean;
  /** Whether to multiply by the weights. False if that was done before. Default true. */
  weighted?: boolean;
}

/** The plain reference: x [rows, topK, columns], weights [rows, topK]. */
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
