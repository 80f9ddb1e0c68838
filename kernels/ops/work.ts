// How much data operations move and compute, to compare their time with what a device can do.
// Counted from shapes alone: every operand is read or written once, whatever a kernel does, and
// operations on single values count roughly. Device.time() measures times.

import type { Work, WorkCounts } from "../operation.ts";
import { type Activation, isQuantized } from "./activation.ts";
import type { AttentionOptions } from "./attention.ts";
import { BLOCK, type CacheTypes, layerCacheBytes } from "./kv_cache.ts";
import type { Matrix } from "./matrix.ts";

export const NO_WORK: Work = { bytesRead: 0, bytesWritten: 0, flops: 0 };

/** The sum of several pieces of work. */
export function sumWork(pieces: Iterable<Work>): Work {
  let [bytesRead, bytesWritten, flops] = [0, 0, 0];
  for (const work of pieces) {
    bytesRead += work.bytesRead;
    bytesWritten += work.bytesWritten;
    flops += work.flops;
  }
  return { bytesRead, bytesWritten, flops };
}

/** Bytes of a float. */
export const FLOAT = 4;

/** Bytes of an int8 value with its part of the group's scale. */
const INTEGER = 1 + FLOAT / 32;

/** Bytes of `columns` values of an activation. */
export function valueBytes(activation: Activation, columns = activation.columns): number {
  return columns * (isQuantized(activation) ? INTEGER : FLOAT);
}

/** Bytes of a number of rows of a weight matrix, for both sides of a pair. */
export function weightBytes({ format, columns, sides }: Matrix, rows: number): number {
  return sides * rows * columns * format.blockBytes / format.blockSize;
}

/** The work of attention for sequences that are all as long as the longest. */
export function attentionWork(
  options: AttentionOptions,
  types: CacheTypes,
  { rows, sequences, positions }: WorkCounts,
): Work {
  const { heads, headDim, valueDim = headDim } = options;
  const { causal = true, window } = options;
  const each = rows / Math.max(1, sequences);
  const reach = window ? window.size : Infinity;
  const seen = Math.min(causal ? positions - (each - 1) / 2 : positions, reach);
  const read = Math.min(positions, reach + each);
  const cached = layerCacheBytes(options, 1, types) / BLOCK +
    layerCacheBytes(options, 1, types, "values") / BLOCK;
  return {
    bytesRead: sequences * read * cached + rows * heads * headDim * FLOAT,
    bytesWritten: rows * heads * valueDim * FLOAT,
    flops: 2 * rows * heads * seen * (headDim + valueDim),
  };
}

/** Expected number of different experts that `rows` rows choose, if each chooses at random. */
export function expertsMet(experts: number, topK: number, rows: number): number {
  return experts * (1 - (1 - topK / experts) ** rows);
}
