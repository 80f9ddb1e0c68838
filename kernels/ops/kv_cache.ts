// The paged KV cache: the heads of an attention layer and the shape and size of what is kept of them.
// rotate.ts says what is written into it, attention.ts what is read.

import type { Buffer } from "../operation.ts";

/** Heads of an attention layer. A row of q, k and v has their heads one after another. */
export interface HeadShape {
  /** Query heads. */
  heads: number;
  /** Key and value heads; divides `heads`. */
  kvHeads: number;
  /** Elements of a query and of a key, a multiple of four. */
  headDim: number;
  /** Elements of a value, a multiple of four; default `headDim`. */
  valueDim?: number;
  /** No values of their own: a value is the first `valueDim` elements of its key (MLA). */
  sharedValues?: boolean;
}

/** Tokens in a block of the KV cache. */
export const BLOCK = 32;

/** Keys and values of one layer: [blocks, kvHeads, BLOCK, elements of a head], f32 or f16. */
export interface LayerCache {
  readonly keys: Buffer;
  /** Missing where the keys hold the values. */
  readonly values?: Buffer;
  readonly half: boolean;
}

/** Bytes of the keys, or of the values, of one layer. */
export function layerCacheBytes(
  shape: HeadShape,
  blocks: number,
  half: boolean,
  part: "keys" | "values" = "keys",
): number {
  const { kvHeads, headDim, valueDim = headDim, sharedValues = false } = shape;
  const elements = part === "keys" ? headDim : sharedValues ? 0 : valueDim;
  return blocks * BLOCK * kvHeads * elements * (half ? 2 : 4);
}

/** What every attention layer of a model shares. */
export interface AttentionState {
  /** [rows] of {@linkcode STEP_ROW}. */
  rows: Buffer;
  /** Block numbers of each slot's sequence: [slots, maxBlocks]. */
  table: Buffer;
  maxBlocks: number;
}
