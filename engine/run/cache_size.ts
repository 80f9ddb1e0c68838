// How much a model remembers: the window of one sequence, and the blocks of the KV cache that all
// share. WebGPU does not say how much memory there is, so the file is the measure: who has room for
// the weights has room for half as much again. What was asked for is given whatever it takes.

import { BLOCK } from "../../kernels/mod.ts";
import type { Config } from "../nn/mod.ts";

/** The default window, where the model was trained for as much and whatever memory it takes. */
const LEAST_CONTEXT = 8192;

/** Default windows are multiples of this, but for the trained one. */
const CONTEXT_STEP = 1024;

/** Bytes of keys and values that any machine has room for. */
const LEAST_BUDGET = 512 * 2 ** 20;

/** Copies of recurrent states may take this share of the bytes of keys and values. */
const COPIES_SHARE = 1 / 4;

/** Rows of such copies, whatever they take, and at most. */
const COPIES = { least: 4, most: 256 };

/** What a model remembers. */
export interface CacheSize {
  /** Window in tokens. */
  context: number;
  /** Blocks of the KV cache. */
  blocks: number;
}

/** Bytes of keys and values that a token takes. */
export interface TokenBytes {
  /** In all layers. */
  all: number;
  /** In the larger of the two buffers of a layer. */
  largest: number;
}

/** What decides on the size of the cache. */
export interface CacheDemand {
  /** Window that was asked for, in tokens. */
  asked?: number | undefined;
  /** Window that the model was trained for, in tokens. */
  trained: number;
  /** Sequences that run at the same time. */
  slots: number;
  /** Windows to have blocks for, as far as there is room. Default 2. */
  windows?: number | undefined;
  /** Bytes of the model's file. */
  fileSize: number;
  tokenBytes: TokenBytes;
  /** Bytes of the largest buffer that a kernel can see. */
  maxBuffer: number;
}

/**
 * The window: what was asked for, or half of what there is room for, at least 8192; never more than
 * trained. Blocks for two windows, as far as there is room: one may run while others are remembered.
 */
export function chooseCacheSize(demand: CacheDemand): CacheSize {
  const { asked, trained, slots, windows = 2, fileSize, tokenBytes, maxBuffer } = demand;
  const budget = Math.max(LEAST_BUDGET, fileSize / 2);
  const spare = (slots + 1) * BLOCK; // each sequence's last block is not full
  const room = Math.min(budget / tokenBytes.all, maxBuffer / tokenBytes.largest - spare);
  const fitting = Math.floor(room / 2 / CONTEXT_STEP) * CONTEXT_STEP;
  const wanted = asked ?? Math.max(LEAST_CONTEXT, fitting);
  const context = Math.max(4, Math.min(wanted, trained));
  const tokens = Math.max(context, Math.min(windows * context, room));
  return { context, blocks: Math.ceil(tokens / BLOCK) + slots };
}

/**
 * Copies of recurrent states to have room for: conversations go on from them.
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
 * What a model's header says of its cache. More than it takes where layers share keys, or keep
 * latents instead of them. Errors: GgufError.
 */
export function tokenBytes(config: Config, half: boolean): TokenBytes {
  const countsOf = (key: string) => config.countsPerLayer(key).slice(0, config.layers);
  const heads = countsOf("attention.head_count");
  const listed = countsOf("attention.head_count_kv");
  // Without a list layers have as many as queries; in one, those without are recurrent.
  const keyValueHeads = listed.some(Boolean) ? listed : heads;
  const headLength = config.width / Math.max(1, ...heads);
  const [keys, values] = ["key", "value"].map((part) =>
    config.countOr(`attention.${part}_length`, headLength) * (half ? 2 : 4)
  );
  const sum = keyValueHeads.reduce((total, count) => total + count, 0);
  return {
    all: sum * (keys + values),
    largest: Math.max(0, ...keyValueHeads) * Math.max(keys, values),
  };
}
