// Attention over the paged KV cache: the bindings of attention.wgsl and attention_merge.wgsl. Which
// invocation does what is for attention_shares.ts. Differences between models are
// options; unused ones are not in the WGSL.

import attentionSource from "./attention.wgsl" with { type: "text" };
import mergeSource from "./attention_merge.wgsl" with { type: "text" };
import windowSource from "./attention_window.wgsl" with { type: "text" };
import quadsSource from "./cached_quads.wgsl" with { type: "text" };
import cacheSource from "./kv_cache.wgsl" with { type: "text" };
import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import scalarsSource from "./scalars.wgsl" with { type: "text" };
import {
  type Activation,
  bufferOf,
  type FloatRows,
  GROUP,
  isQuantized,
} from "../ops/activation.ts";
import type { AttentionTiling } from "../ops/attention.ts";
import { alibiSlopes, type AttentionOptions } from "../ops/attention.ts";
import {
  type AttentionState,
  BLOCK,
  cacheGroups,
  cellBytes,
  headBlockBytes,
  isCoded,
  type LayerCache,
} from "../ops/kv_cache.ts";
import { QUERY_TILE, STEP_ROW } from "../ops/step_records.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { structs } from "./snippets.ts";
import { type AttentionWay, attentionWays } from "./candidates.ts";
import type { AttentionShape } from "./choices.ts";
import { chunkOf, POSITIONS, shares, SOFTMAX_PARTS, UNROLLS } from "./attention_shares.ts";

/** Invocations of a workgroup that merges splits. */
const MERGE_WORKGROUP = 64;

/** Invocations of a workgroup that merges splits where barriers are expensive: each merges a group of columns without the others. */
const MERGE_WORKGROUP_SOFTWARE = 8;

const RECORDS = structs(STEP_ROW, QUERY_TILE);

/** The two kernels, bound with splits of one length. */
interface Splitting {
  readonly split: number;
  readonly scores: Dispatch;
  readonly merge: Dispatch;
}

/** What attention reads and writes. */
interface Bound {
  readonly qkv: FloatRows;
  readonly cache: LayerCache;
  readonly state: AttentionState;
  readonly y: Activation;
}

/** Attention of query tiles over their sequences, then the merge of the splits. */
export class Attention {
  readonly #device: Gpu;
  readonly #bound: Bound;
  readonly #options: AttentionOptions;
  readonly #tiling: AttentionTiling;
  readonly #way: AttentionWay | undefined;
  /** By their lengths, shortest first. The last one covers any context. */
  #splittings: readonly Splitting[] = [];
  /** The version of the device's choices with which these were bound. */
  #version: number | undefined;
  /** Workgroups that merge the splits of a row. */
  readonly #merged: number;
  readonly #chunks: number;

  /**
   * @param qkv rotated, [rows, columns] with the query heads from column `first` on
   * @param y [rows, heads * valueDim]
   * @param way overrides the choice of how it is computed, for tuning
   */
  constructor(
    device: Gpu,
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    options: AttentionOptions,
    tiling: AttentionTiling,
    way?: AttentionWay,
  ) {
    const { headDim, valueDim = headDim } = options;
    this.#device = device;
    this.#bound = { qkv, cache, state, y };
    this.#options = options;
    this.#tiling = tiling;
    this.#way = way;
    const columns = device.capabilities.software
      ? MERGE_WORKGROUP_SOFTWARE * GROUP
      : headsMergedTogether(valueDim) * valueDim;
    this.#merged = Math.ceil(y.stride / columns);
    this.#chunks = chunkOf(device, options).chunks;
    if (!way && tiling.tileRows === 1) device.choices.noteAttention(this.#shape());
    this.#refresh();
  }

  /** Binds the kernels again if another way to compute them was chosen. */
  prepare(): void {
    this.#refresh();
  }

  /** Records `tiles` tiles whose sequences have at most `positions` positions. */
  encode(pass: GPUComputePassEncoder, tiles: number, positions: number): void {
    this.#refresh();
    const { maxSplits, tileRows } = this.#tiling;
    const seen = Math.min(positions, mostSeen(this.#options, tileRows));
    const splitting = this.#splittings.find(({ split }) => seen <= split * maxSplits) ??
      this.#splittings.at(-1)!;
    const splits = Math.ceil(seen / splitting.split);
    const { scores, merge } = splitting;
    encodeDispatch(pass, scores, [splits, this.#options.kvHeads * this.#chunks, tiles]);
    encodeDispatch(pass, merge, [this.#merged, tileRows, tiles]);
  }

  /** The properties on which choices depend. */
  #shape(): AttentionShape {
    const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = this.#options;
    return { heads, kvHeads, headDim, valueDim, sharedValues, ...this.#bound.cache.types };
  }

  #refresh(): void {
    const { choices, profile } = this.#device;
    if (this.#version === choices.version) return;
    this.#version = choices.version;
    // Ways are timed for decoding. Splits of a prompt's tiles are as long as the context.
    const way = this.#way ??
      (this.#tiling.tileRows === 1
        ? choices.attention(this.#shape())
        : attentionWays(profile, this.#shape())[0]!);
    this.#splittings = this.#bind(way);
  }

  #bind(way: AttentionWay): Splitting[] {
    const device = this.#device;
    const { qkv, cache, state, y } = this.#bound;
    const options = this.#options;
    const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
    const { scale, softcap = 0, window, sinks, alibi = 0, causal = true, first = 0 } = options;
    const { temperature, bidirectionalImages = false } = options;
    const { tileRows, maxSplits, tiles, partials } = this.#tiling;
    const { chunk, chunks } = chunkOf(device, options);
    const seen = {
      CAUSAL: causal,
      BIDIRECTIONAL_IMAGES: bidirectionalImages,
      WINDOWED: window !== undefined,
      SLIDING: window?.kind === "sliding",
      CHUNKED: window?.kind === "chunked",
      SYMMETRIC: window?.kind === "symmetric",
    };
    const queries = tileRows * chunk;
    const scores = device.kernel({
      name: "attention",
      source: attentionSource,
      constants: {
        BLOCK,
        HEAD_DIM: headDim,
        VALUE_DIM: valueDim,
        SHARED_VALUES: sharedValues,
        ...codesOf(cache, headDim, valueDim),
        TILE: tileRows,
        GROUP: heads / kvHeads,
        CHUNK: chunk,
        CHUNKS: chunks,
        STRIDE: queries > SOFTMAX_PARTS ? queries | 1 : queries, // odd: queries in different banks
        SCORES_BY_POSITION: !device.capabilities.software,
        LEAVES_EARLY: !device.capabilities.software, // on the CPU, all code after it would run under a mask
        SOFTMAX_UNROLL: device.capabilities.software ? 1 : POSITIONS / SOFTMAX_PARTS,
        ...shares(device, { headDim, valueDim, types: cache.types, queries }, way),
        SOFTCAP: softcap > 0,
        ALIBI: alibi > 0,
        TEMPERATURE: temperature !== undefined,
        ...seen,
      },
      snippets: [
        ...[RECORDS, cacheSource, quadsSource, windowSource],
        ...(softcap > 0 ? [scalarsSource] : []),
      ],
    });
    const read = {
      rows: state.rows,
      tiles,
      table: state.table,
      qkv: qkv.floats,
      keys: cache.keys,
      ...(sharedValues ? {} : { values: cache.values! }),
      partials,
      ...(alibi > 0 ? { slopes: slopesBuffer(device, heads, alibi) } : {}),
    };
    const params = {
      stride: qkv.stride,
      first,
      kv_heads: kvHeads,
      max_blocks: state.maxBlocks,
      max_splits: maxSplits,
      window: window?.size ?? 0,
      scale,
      softcap,
      temperature: temperature?.scale ?? 0,
      stretch: temperature?.length ?? 1,
      stretch_offset: temperature?.offset ?? 0,
    };
    const QUANTIZED_OUTPUT = isQuantized(y);
    const SINKS = sinks !== undefined;
    const HEADS = headsMergedTogether(valueDim);
    const groups = y.stride / GROUP;
    const GROUP_EACH = device.capabilities.software;
    const MERGE = GROUP_EACH ? MERGE_WORKGROUP_SOFTWARE : MERGE_WORKGROUP;
    const mergeLanes = Math.min(MERGE, HEADS * valueDim / 4);
    const merge = device.kernel({
      name: "attention merge",
      source: mergeSource,
      constants: {
        WORKGROUP: MERGE,
        GROUP_EACH,
        HEADS,
        LANES: mergeLanes,
        TEAMS: Math.floor(MERGE / mergeLanes),
        SPLITS: maxSplits,
        SHARE: Math.ceil(HEADS * maxSplits / MERGE),
        UNROLL: Math.min(maxSplits, UNROLLS[0]),
        VALUE_DIM: valueDim,
        QUANTIZED_OUTPUT,
        SINKS,
        ...seen,
      },
      snippets: [RECORDS, windowSource, ...(QUANTIZED_OUTPUT ? [quantizeGroupSource] : [])],
    });
    const merged = {
      rows: state.rows,
      tiles,
      partials,
      y: bufferOf(y),
      ...(sinks ? { sinks } : {}),
    };
    const most = Math.min(state.maxBlocks * BLOCK, mostSeen(options, tileRows));
    return lengths(this.#tiling.split * way.stretch, maxSplits, most).map((split) => ({
      split,
      scores: scores.bind(read, { ...params, split }),
      merge: merge.bind(merged, {
        heads,
        groups,
        split,
        max_splits: maxSplits,
        window: window?.size ?? 0,
      }),
    }));
  }
}

/** Lengths of splits for contexts of up to `most` positions: doubled until there are few enough. */
function lengths(least: number, maxSplits: number, most: number): number[] {
  const all = [least];
  while (all.at(-1)! * maxSplits < most) all.push(2 * all.at(-1)!);
  return all;
}

/** Heads whose values together are whole groups of columns: 1, 2, 4 or 8. */
function headsMergedTogether(valueDim: number): number {
  let heads = 1;
  while (heads * valueDim % GROUP !== 0) heads *= 2;
  return heads;
}

/** Constants for the types of keys and values, for cached_quads.wgsl. */
function codesOf({ types: { keys, values } }: LayerCache, headDim: number, valueDim: number) {
  return {
    FLOAT_KEYS: keys === "f32",
    HALF_KEYS: keys === "f16",
    Q8_KEYS: keys === "q8_0",
    Q4_KEYS: keys === "q4_0",
    FLOAT_VALUES: values === "f32",
    HALF_VALUES: values === "f16",
    Q8_VALUES: values === "q8_0",
    Q4_VALUES: values === "q4_0",
    CODED_KEYS: isCoded(keys),
    CODED_VALUES: isCoded(values),
    KEY_BLOCK_WORDS: headBlockBytes(keys, headDim) / 4,
    KEY_CODE_WORDS: BLOCK * cellBytes(keys, headDim) / 4,
    KEY_GROUPS: cacheGroups(headDim),
    VALUE_BLOCK_WORDS: headBlockBytes(values, valueDim) / 4,
    VALUE_CODE_WORDS: BLOCK * cellBytes(values, valueDim) / 4,
    VALUE_GROUPS: cacheGroups(valueDim),
  };
}

/** Most positions that the rows of a tile attend to together. */
function mostSeen(options: AttentionOptions, tileRows: number): number {
  const { window, causal = true, bidirectionalImages = false } = options;
  const bounded = window && (causal ? !bidirectionalImages : window.kind === "symmetric");
  return bounded ? window.size + tileRows : Infinity;
}

function slopesBuffer(device: Gpu, heads: number, maxBias: number): GPUBuffer {
  const slopes = alibiSlopes(heads, maxBias);
  const buffer = device.buffer("slopes", slopes.byteLength, "scratch");
  device.write(buffer, 0, slopes);
  return buffer;
}
