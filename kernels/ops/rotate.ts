// RoPE on queries and keys, by tables for positions of text or by angles of each row, as for images;
// before it a norm of each head, if the model has one. It also writes keys and values to the paged KV
// cache. Every part is optional: zero heads of a kind, or `rotary: 0` for no rotation.

import type { Buffer } from "../operation.ts";
import type { HeadShape } from "./kv_cache.ts";
import type { Norm, NormOptions } from "./norm.ts";
import type { RopeOptions } from "./rope_tables.ts";

/** The options of rotate(). Keys and values go into the cache if there are `kvHeads`. */
export interface RotateOptions extends HeadShape {
  /** Rotated elements of a head, a multiple of four; 0 for no rotation. */
  rotary: number;
  /** First rotated element, a multiple of four; default 0. */
  rotaryStart?: number;
  /** Whether pairs are (i, i + rotary/2) instead of (2i, 2i + 1). */
  halfPairs: boolean;
  /** The angles of {@linkcode ropeTable}; needed unless `rotary` is 0. */
  angles?: Buffer;
  /** RMSNorms of each head before its rotation, without biases. */
  norms?: HeadNorms | undefined;
  /** Sections of M-RoPE. Missing: all pairs rotate by the position in the cache. */
  sections?: RotarySections | undefined;
  /** Column of the first head in its row, a multiple of four; default 0. */
  first?: number;
}

/** Norms of queries and keys, head by head. Missing: as they are. */
export interface HeadNorms {
  queries?: Norm | undefined;
  keys?: Norm | undefined;
}

/** The norms of a rotation, each with the heads that it is for. */
export function headNorms(
  { heads, kvHeads, headDim, first = 0, norms = {} }: RotateOptions,
): { norm: Norm; vectors: Required<NormOptions>["vectors"] }[] {
  const parts = [
    { norm: norms.queries, vectors: { first, count: heads, columns: headDim } },
    {
      norm: norms.keys,
      vectors: { first: first + heads * headDim, count: kvHeads, columns: headDim },
    },
  ];
  return parts.flatMap(({ norm, vectors }) => norm && vectors.count > 0 ? [{ norm, vectors }] : []);
}

/** M-RoPE: which part of a row's position rotates which pair. */
export type RotarySections = Pick<RopeOptions, "sections" | "interleaved">;

export interface RotateRowsOptions {
  /** Number of heads, from the beginning of each row on. */
  heads: number;
  /** Elements of a head, an even number. */
  headDim: number;
  /** Distance between the elements of a pair: a divisor of `headDim / 2`. */
  distance: number;
}

/** The rotation of one head in plain loops. @param angles (cos, sin) of each pair: [headDim / 2] */
export function rotateRowsReference(
  head: Float32Array,
  angles: Float32Array,
  distance: number,
): Float32Array {
  const rotated = head.slice();
  for (let pair = 0; pair < head.length / 2; pair++) {
    const first = Math.floor(pair / distance) * 2 * distance + pair % distance;
    const [a, b] = [head[first], head[first + distance]];
    const [cos, sin] = angles.subarray(2 * pair);
    rotated[first] = a * cos - b * sin;
    rotated[first + distance] = b * cos + a * sin;
  }
  return rotated;
}
