// Attention over the paged KV cache: the bindings of rotate.wgsl (RoPE, and keys and values into
// the cache), attention.wgsl and attention_merge.wgsl, and the cache's shape.

import attentionSource from "./attention.wgsl" with { type: "text" };
import cacheSource from "./kv_cache.wgsl" with { type: "text" };
import mergeSource from "./attention_merge.wgsl" with { type: "text" };
import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import rotateSource from "./rotate.wgsl" with { type: "text" };
import { type Activation, bindOutput, type FloatRows, GROUP, isQuantized } from "./activation.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

/** Heads of an attention layer. */
export interface HeadShape {
  /** Query heads. */
  heads: number;
  /** Key and value heads; divides `heads`. */
  kvHeads: number;
  /** Elements of a head, a multiple of four. */
  headDim: number;
}

/** Tokens in a block of the KV cache. */
export const BLOCK = 32;

/** Keys and values of one layer: [blocks, kvHeads, BLOCK, headDim], f32 or f16. */
export interface LayerCache {
  readonly keys: GPUBuffer;
  readonly values: GPUBuffer;
  readonly half: boolean;
}

/** Bytes of the keys (or the values) of one layer. */
export function layerCacheBytes(shape: HeadShape, blocks: number, half: boolean): number {
  return blocks * BLOCK * shape.kvHeads * shape.headDim * (half ? 2 : 4);
}

/** What every attention layer of a model shares. */
export interface AttentionState {
  /** Rows of the step: token, position, slot. */
  rows: GPUBuffer;
  /** Block numbers of each slot's sequence: [slots, maxBlocks]. */
  table: GPUBuffer;
  maxBlocks: number;
}

/** RoPE on queries and keys; keys and values into the cache. */
export class Rotate {
  readonly #dispatch: Dispatch;
  readonly #workgroups: number;

  /** @param qkv [rows, heads + 2 * kvHeads, headDim]: q is rotated in place */
  constructor(
    device: Device,
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    options: HeadShape & {
      rotary: number;
      /** Pairs (i, i + rotary/2) instead of (2i, 2i + 1). */
      halfPairs: boolean;
      lowTurns: GPUBuffer;
      highTurns: GPUBuffer;
    },
  ) {
    const { heads, kvHeads, headDim, rotary, halfPairs, lowTurns, highTurns } = options;
    const WORKGROUP = 32;
    this.#workgroups = Math.ceil((heads + 2 * kvHeads) * headDim / 4 / WORKGROUP);
    this.#dispatch = device.kernel({
      name: "rotate",
      source: rotateSource,
      constants: {
        WORKGROUP,
        BLOCK,
        HEAD_DIM: headDim,
        HALF_CACHE: cache.half,
        HALF_PAIRS: halfPairs,
      },
      snippets: [cacheSource],
    }).bind({
      rows: state.rows,
      table: state.table,
      low_turns: lowTurns,
      high_turns: highTurns,
      qkv: qkv.floats,
      keys: cache.keys,
      values: cache.values,
    }, { heads, kv_heads: kvHeads, rotary, stride: qkv.stride, max_blocks: state.maxBlocks });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [this.#workgroups, rows]);
  }
}

/** How query rows and positions are shared out over workgroups. */
export interface AttentionTiling {
  /** Rows of one sequence per workgroup: 1 in decode. */
  tileRows: number;
  /** Positions per split. */
  split: number;
  /** Splits that the longest context has. */
  maxSplits: number;
  /** [tiles] of (first row, rows). */
  tiles: GPUBuffer;
  /** Scratch of `partialBytes`, shared by all layers. */
  partials: GPUBuffer;
}

/** Bytes of the splits' partial results. */
export function partialBytes(shape: HeadShape, rows: number, maxSplits: number): number {
  return rows * shape.heads * maxSplits * (16 + shape.headDim * 4);
}

/** Most rows per tile whose queries and scores fit the workgroup memory. */
export function mostTileRows(device: Device, shape: HeadShape): number {
  const group = shape.heads / shape.kvHeads;
  const bytes = device.gpu.limits.maxComputeWorkgroupStorageSize - 2048;
  const fits = Math.floor(bytes / (group * (shape.headDim * 4 + WORKGROUP * 4 + 12)));
  const queries = device.capabilities.software ? 12 : 32; // accumulators that stay in registers
  return Math.max(1, Math.min(8, fits, Math.floor(queries / group)));
}

const WORKGROUP = 64;

/** Causal attention of query tiles over their sequences, then the merge of the splits. */
export class Attention {
  readonly #scores: Dispatch;
  readonly #merge: Dispatch;
  readonly #shape: HeadShape;
  readonly #tiling: AttentionTiling;
  readonly #groups: number;

  /** @param qkv rotated, [rows, heads + 2 * kvHeads, headDim] @param y [rows, heads * headDim] */
  constructor(
    device: Device,
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    shape: HeadShape & { scale: number },
    tiling: AttentionTiling,
  ) {
    const { heads, kvHeads, headDim, scale } = shape;
    const { tileRows, split, maxSplits, tiles, partials } = tiling;
    this.#shape = shape;
    this.#tiling = tiling;
    this.#groups = y.stride / GROUP;
    const group = heads / kvHeads;
    this.#scores = device.kernel({
      name: "attention",
      source: attentionSource,
      constants: {
        WORKGROUP,
        BLOCK,
        HEAD_DIM: headDim,
        HALF_CACHE: cache.half,
        TILE: tileRows,
        GROUP: group,
        QUERIES_COUNT: tileRows * group,
        ITEMS: Math.ceil(tileRows * group * headDim / 4 / WORKGROUP),
        SAME_COLUMN: WORKGROUP % (headDim / 4) === 0,
      },
      snippets: [cacheSource],
    }).bind({
      rows: state.rows,
      tiles,
      table: state.table,
      qkv: qkv.floats,
      keys: cache.keys,
      values: cache.values,
      partials,
    }, {
      stride: qkv.stride,
      kv_heads: kvHeads,
      max_blocks: state.maxBlocks,
      split,
      max_splits: maxSplits,
      scale,
    });
    const QUANTIZED_OUTPUT = isQuantized(y);
    this.#merge = device.kernel({
      name: "attention merge",
      source: mergeSource,
      constants: { WORKGROUP: 32, HEAD_DIM: headDim, QUANTIZED_OUTPUT },
      snippets: QUANTIZED_OUTPUT ? [quantizeGroupSource] : [],
    }).bind(
      { rows: state.rows, tiles, partials, ...bindOutput(y) },
      { heads, groups: this.#groups, split, max_splits: maxSplits },
    );
  }

  /** Records `tiles` tiles whose sequences have at most `positions` positions. */
  encode(pass: GPUComputePassEncoder, tiles: number, positions: number): void {
    const { split, tileRows } = this.#tiling;
    const splits = Math.ceil(positions / split);
    encodeDispatch(pass, this.#scores, [splits, this.#shape.kvHeads, tiles]);
    encodeDispatch(pass, this.#merge, [Math.ceil(this.#groups / 32), tileRows, tiles]);
  }
}

/** Causal attention in plain loops: q [tokens, heads, headDim], k and v [tokens, kvHeads, headDim]. */
export function attentionReference(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  shape: HeadShape & { scale: number },
): Float32Array {
  const { heads, kvHeads, headDim, scale } = shape;
  const tokens = q.length / (heads * headDim);
  const y = new Float32Array(q.length); // [tokens, heads, headDim]
  for (let t = 0; t < tokens; t++) {
    for (let h = 0; h < heads; h++) {
      const query = (t * heads + h) * headDim;
      const kv = Math.floor(h * kvHeads / heads);
      const scores: number[] = [];
      for (let p = 0; p <= t; p++) {
        let dot = 0;
        for (let d = 0; d < headDim; d++) dot += q[query + d] * k[(p * kvHeads + kv) * headDim + d];
        scores.push(dot * scale);
      }
      const peak = Math.max(...scores);
      const weights = scores.map((score) => Math.exp(score - peak));
      const sum = weights.reduce((a, b) => a + b);
      for (let d = 0; d < headDim; d++) {
        let value = 0;
        for (let p = 0; p <= t; p++) value += weights[p] * v[(p * kvHeads + kv) * headDim + d];
        y[query + d] = value / sum;
      }
    }
  }
  return y;
}
