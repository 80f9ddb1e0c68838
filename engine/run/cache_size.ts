// The size of the KV cache: the window of one sequence, and the number of blocks for all sequences.
// WebGPU does not tell how much memory there is, so the size of the file decides: a machine with memory
// for the weights is assumed to have half as much again. A requested window is never reduced.

import { BLOCK, type CacheType, type CacheTypes, headBlockBytes } from "../../kernels/mod.ts";
import type { Config } from "../nn/mod.ts";

/** The least default window, unless the model was trained for a shorter one. */
const LEAST_CONTEXT = 8192;

/** The default window is a multiple of this, or the trained one. */
const CONTEXT_STEP = 1024;

/** Bytes for keys and values that every machine is assumed to have. */
const LEAST_BUDGET = 512 * 2 ** 20;

/** Copies of recurrent states may take this fraction of the bytes of keys and values. */
const COPIES_SHARE = 1 / 4;

/** Fewest rows of such copies, whatever their size, and most rows. */
const COPIES = { least: 4, most: 256 };

/** The size of a KV cache. */
export interface CacheSize {
  /** Window in tokens. */
  context: number;
  /** Blocks of the KV cache. */
  blocks: number;
}

/** Bytes of a token's keys and values. */
export interface TokenBytes {
  /** In all layers. */
  all: number;
  /** In the larger of the two buffers of a layer. */
  largest: number;
}

/** The facts on which the size of the cache depends. */
export interface CacheDemand {
  /** Requested window in tokens. */
  asked?: number | undefined;
  /** Window with which the model was trained, in tokens. */
  trained: number;
  /** Sequences that run at the same time. */
  slots: number;
  /** Number of windows to have blocks for, as far as memory allows. Default 2. */
  windows?: number | undefined;
  /** Bytes of the model's file. */
  fileSize: number;
  tokenBytes: TokenBytes;
  /** Bytes of the largest buffer that a kernel can bind. */
  maxBuffer: number;
}

/**
 * Chooses the window: the requested one, or half of what fits into memory, at least 8192 tokens; never
 * more than the model was trained for. Chooses blocks for two windows, as far as memory
 * allows, so that a long sequence can run while the prefixes of others stay cached.
 */
export function chooseCacheSize(demand: CacheDemand): CacheSize {
  const { asked, trained, slots, windows = 2, fileSize, tokenBytes, maxBuffer } = demand;
  const budget = Math.max(LEAST_BUDGET, fileSize / 2);
  const spare = (slots + 1) * BLOCK; // each sequence's last block is not full
  const most = Math.min(budget / tokenBytes.all, maxBuffer / tokenBytes.largest - spare);
  const fitting = Math.floor(most / 2 / CONTEXT_STEP) * CONTEXT_STEP;
  const wanted = asked ?? Math.max(LEAST_CONTEXT, fitting);
  const context = Math.max(4, Math.min(wanted, trained));
  const tokens = Math.max(context, Math.min(windows * context, most));
  return { context, blocks: Math.ceil(tokens / BLOCK) + slots };
}

/**
 * Chooses the number of copies of recurrent states, from which conversations continue.
 *
 * @param stateBytes of one sequence @param largest of these, in one layer
 * @param cacheBytes keys and values of all blocks
 */
export function chooseStateCopies(
  { stateBytes, largest, cacheBytes, maxBuffer }: {
    stateBytes: number;
    largest: number;
    cacheBytes: number;
    maxBuffer: number;
  },
): number {
  if (stateBytes === 0) return 0;
  const budget = Math.max(LEAST_BUDGET, cacheBytes) * COPIES_SHARE;
  const wanted = Math.max(COPIES.least, Math.min(COPIES.most, Math.floor(budget / stateBytes)));
  return Math.min(wanted, Math.floor(maxBuffer / largest));
}

/**
 * Bytes of keys and values per token, by the model's header; an upper bound where layers share keys or
 * cache latents instead. Errors: GgufError.
 */
export function tokenBytes(config: Config, types: CacheTypes): TokenBytes {
  const countsOf = (key: string) => config.countsPerLayer(key).slice(0, config.layers);
  const heads = countsOf("attention.head_count");
  const listed = countsOf("attention.head_count_kv");
  // Without the key, layers have as many key-value heads as query heads. 0 in a list: a recurrent layer.
  const keyValueHeads = listed.some(Boolean) ? listed : heads;
  const headLength = config.width / Math.max(1, ...heads);
  const bytesOf = (part: "key" | "value", type: CacheType) =>
    headBlockBytes(type, config.countOr(`attention.${part}_length`, headLength)) / BLOCK;
  const [keys, values] = [bytesOf("key", types.keys), bytesOf("value", types.values)];
  const sum = keyValueHeads.reduce((total, count) => total + count, 0);
  return {
    all: sum * (keys + values),
    largest: Math.max(0, ...keyValueHeads) * Math.max(keys, values),
  };
}
