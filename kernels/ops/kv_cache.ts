// The paged KV cache: the heads of an attention layer and the shape and size of what is kept of them.
// rotate.ts says what is written into it, attention.ts what is read, cache_codes.ts what codes mean.

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

/** Elements of a head that share a scale, where they are codes; the last group may have fewer. */
export const CACHE_GROUP = 32;

/** What an element of the cache is: a float, or a code of 8 or 4 bits with its group's scale. */
export type CacheType = "f32" | "f16" | "q8_0" | "q4_0";

/** What keys and values are. Where keys hold the values, that of the keys counts. */
export interface CacheTypes {
  /** What keys are. */
  readonly keys: CacheType;
  /** What values are. */
  readonly values: CacheType;
}

/**
 * Keys and values of one layer: [blocks, kvHeads, block of a head]. A block of a head is
 * [BLOCK, elements of a head]; behind codes come their scales, f16 [BLOCK, groups of a head].
 */
export interface LayerCache {
  readonly keys: Buffer;
  /** Missing where the keys hold the values. */
  readonly values?: Buffer;
  readonly types: CacheTypes;
}

/** Keys and values of one type. */
export function typesOf(type: CacheType): CacheTypes {
  return { keys: type, values: type };
}

/** Whether elements of a type are codes with scales. */
export function isCoded(type: CacheType): type is "q8_0" | "q4_0" {
  return type === "q8_0" || type === "q4_0";
}

/** Groups of a head that have a scale each. */
export function cacheGroups(elements: number): number {
  return Math.ceil(elements / CACHE_GROUP);
}

/** Bytes of a head at one position, without scales. */
export function cellBytes(type: CacheType, elements: number): number {
  return elements * { f32: 4, f16: 2, q8_0: 1, q4_0: 0.5 }[type];
}

/** Bytes of a block of one head. */
export function headBlockBytes(type: CacheType, elements: number): number {
  const scales = isCoded(type) ? 2 * cacheGroups(elements) : 0;
  return BLOCK * (cellBytes(type, elements) + scales);
}

/** The types that heads of a shape can have: codes of 4 bits stand in eights. */
export function fittingTypes({ keys, values }: CacheTypes, shape: HeadShape): CacheTypes {
  const { headDim, valueDim = headDim, sharedValues = false } = shape;
  const fitting = (type: CacheType, elements: number) =>
    type === "q4_0" && elements % 8 !== 0 ? "q8_0" : type;
  const ofKeys = fitting(keys, headDim);
  return { keys: ofKeys, values: sharedValues ? ofKeys : fitting(values, valueDim) };
}

/** Bytes of the keys, or of the values, of one layer. */
export function layerCacheBytes(
  shape: HeadShape,
  blocks: number,
  types: CacheTypes,
  part: "keys" | "values" = "keys",
): number {
  const { kvHeads, headDim, valueDim = headDim, sharedValues = false } = shape;
  if (part === "values" && sharedValues) return 0;
  return blocks * kvHeads * headBlockBytes(types[part], part === "keys" ? headDim : valueDim);
}

/** What every attention layer of a model shares. */
export interface AttentionState {
  /** [rows] of {@linkcode STEP_ROW}. */
  rows: Buffer;
  /** Block numbers of each slot's sequence: [slots, maxBlocks]. */
  table: Buffer;
  maxBlocks: number;
}
