// The paged KV cache: the heads of an attention layer, and the layout and size of their cache.
// rotate.ts writes it, attention.ts reads it, and cache_codes.ts defines codes.

import type { Buffer } from "../operation.ts";

/** The heads of an attention layer. A row of q, k and v has their heads one after another. */
export interface HeadShape {
  /** Query heads. */
  heads: number;
  /** Key and value heads; a divisor of `heads`. */
  kvHeads: number;
  /** Elements of a query and of a key, a multiple of four. */
  headDim: number;
  /** Elements of a value, a multiple of four; default `headDim`. */
  valueDim?: number;
  /**
   * Whether a value is the first `valueDim` elements of its key (MLA), so that values are not
   * stored.
   */
  sharedValues?: boolean;
}

/** Tokens in a block of the KV cache. */
export const BLOCK = 32;

/** Elements of a head that share a scale if they are codes. The last group may have fewer. */
export const CACHE_GROUP = 32;

/** The type of an element: a float, or a code of 8 or 4 bits with a scale for its group. */
export type CacheType = "f32" | "f16" | "q8_0" | "q4_0";

/** The types of keys and values. With `sharedValues` that of the keys counts. */
export interface CacheTypes {
  /** Type of keys. */
  readonly keys: CacheType;
  /** Type of values. */
  readonly values: CacheType;
}

/**
 * Keys and values of one layer: [blocks, kvHeads, block of a head]. A block of a head is [BLOCK,
 * elements of a head]. Codes are followed by their scales, f16 [BLOCK, groups of a head].
 */
export interface LayerCache {
  readonly keys: Buffer;
  /** Missing if values are parts of the keys. */
  readonly values?: Buffer;
  readonly types: CacheTypes;
}

/** One type for both keys and values. */
export function typesOf(type: CacheType): CacheTypes {
  return { keys: type, values: type };
}

/** Whether elements of a type are codes with scales. */
export function isCoded(type: CacheType): type is "q8_0" | "q4_0" {
  return type === "q8_0" || type === "q4_0";
}

/** Number of groups of a head, each with a scale. */
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

/**
 * The nearest types that heads of a shape can have: codes of 4 bits need a multiple of eight
 * elements.
 */
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

/** The buffers that all attention layers of a model share. */
export interface AttentionState {
  /** The rows of the step: [rows] of {@linkcode STEP_ROW}. */
  rows: Buffer;
  /** Block numbers of each slot's sequence: [slots, maxBlocks]. */
  table: Buffer;
  maxBlocks: number;
}
