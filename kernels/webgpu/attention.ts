// Attention over the paged KV cache: the bindings of attention.wgsl and attention_merge.wgsl, and how
// query rows, heads and positions are shared out over workgroups. What differs between models is an
// option; those not used are not in the WGSL.

import attentionSource from "./attention.wgsl" with { type: "text" };
import mergeSource from "./attention_merge.wgsl" with { type: "text" };
import windowSource from "./attention_window.wgsl" with { type: "text" };
import cacheSource from "./kv_cache.wgsl" with { type: "text" };
import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import { GpuError } from "../errors.ts";
import {
  type Activation,
  bufferOf,
  type FloatRows,
  GROUP,
  isQuantized,
} from "../ops/activation.ts";
import type { AttentionTiling } from "../ops/attention.ts";
import { alibiSlopes, type AttentionOptions } from "../ops/attention.ts";
import { type AttentionState, BLOCK, type HeadShape, type LayerCache } from "../ops/kv_cache.ts";
import { QUERY_TILE, STEP_ROW } from "../ops/step_records.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { structs } from "./structs.ts";

const WORKGROUP = 64;

const RECORDS = structs(STEP_ROW, QUERY_TILE);

/**
 * Most queries, rows times heads, whose vectors, scores and results one workgroup holds.
 * Errors: GpuError where it holds none.
 */
function mostQueries(device: Gpu, shape: HeadShape): number {
  const { headDim, valueDim = headDim } = shape;
  const room = device.gpu.limits.maxComputeWorkgroupStorageSize;
  const each = headDim * 4 + WORKGROUP * 4 + 12;
  const fits = Math.floor((room - 2048) / each);
  if (fits < 1) {
    const state = `a query wants ${each} of the device's ${room} bytes of workgroup memory`;
    throw new GpuError(`Cannot attend with heads of ${headDim}: ${state}`);
  }
  const results = 32 * WORKGROUP; // vec4 of output, in registers
  return Math.max(1, Math.min(32, fits, Math.floor(results / (valueDim / 4))));
}

/** Query heads of a KV head that one workgroup handles: all, or an even part where they are many. */
function chunkOf(device: Gpu, shape: HeadShape): { chunk: number; chunks: number } {
  const group = shape.heads / shape.kvHeads;
  const chunks = Math.ceil(group / mostQueries(device, shape));
  return { chunk: Math.ceil(group / chunks), chunks };
}

/** Most rows per tile whose queries and scores fit the workgroup memory: one to eight. */
export function mostTileRows(device: Gpu, shape: HeadShape): number {
  const { chunk } = chunkOf(device, shape);
  const registers = device.capabilities.software ? 12 : 32; // accumulators that stay in them
  const queries = Math.min(registers, mostQueries(device, shape));
  return Math.max(1, Math.min(8, Math.floor(queries / chunk)));
}

/** Attention of query tiles over their sequences, then the merge of the splits. */
export class Attention {
  readonly #scores: Dispatch;
  readonly #merge: Dispatch;
  readonly #options: AttentionOptions;
  readonly #tiling: AttentionTiling;
  readonly #groups: number;
  readonly #chunks: number;

  /**
   * @param qkv rotated, [rows, columns] with the query heads from column `first` on
   * @param y [rows, heads * valueDim]
   */
  constructor(
    device: Gpu,
    qkv: FloatRows,
    cache: LayerCache,
    state: AttentionState,
    y: Activation,
    options: AttentionOptions,
    tiling: AttentionTiling,
  ) {
    const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
    const { scale, softcap = 0, window, sinks, alibi = 0, causal = true, first = 0 } = options;
    const { temperature, wholeImages = false } = options;
    const { tileRows, split, maxSplits, tiles, partials } = tiling;
    const { chunk, chunks } = chunkOf(device, options);
    this.#options = options;
    this.#tiling = tiling;
    this.#groups = y.stride / GROUP;
    this.#chunks = chunks;
    const seen = {
      CAUSAL: causal,
      WHOLE_IMAGES: wholeImages,
      WINDOWED: window !== undefined,
      SLIDING: window?.kind === "sliding",
      CHUNKED: window?.kind === "chunked",
      SYMMETRIC: window?.kind === "symmetric",
    };
    const LANES = Math.min(WORKGROUP, valueDim / 4);
    const ROWS = Math.floor(WORKGROUP / LANES);
    this.#scores = device.kernel({
      name: "attention",
      source: attentionSource,
      constants: {
        WORKGROUP,
        BLOCK,
        HEAD_DIM: headDim,
        VALUE_DIM: valueDim,
        SHARED_VALUES: sharedValues,
        HALF_CACHE: cache.half,
        TILE: tileRows,
        GROUP: heads / kvHeads,
        CHUNK: chunk,
        CHUNKS: chunks,
        QUERIES_COUNT: tileRows * chunk,
        LANES,
        ROWS,
        ITEMS: Math.ceil(tileRows * chunk / ROWS),
        COLUMNS: Math.ceil(valueDim / 4 / WORKGROUP),
        SOFTCAP: softcap > 0,
        ALIBI: alibi > 0,
        TEMPERATURE: temperature !== undefined,
        ...seen,
      },
      snippets: [RECORDS, cacheSource, windowSource],
    }).bind({
      rows: state.rows,
      tiles,
      table: state.table,
      qkv: qkv.floats,
      keys: cache.keys,
      ...(sharedValues ? {} : { values: cache.values! }),
      partials,
      ...(alibi > 0 ? { slopes: slopesBuffer(device, heads, alibi) } : {}),
    }, {
      stride: qkv.stride,
      first,
      kv_heads: kvHeads,
      max_blocks: state.maxBlocks,
      split,
      max_splits: maxSplits,
      window: window?.size ?? 0,
      scale,
      softcap,
      temperature: temperature?.scale ?? 0,
      stretch: temperature?.length ?? 1,
      stretch_offset: temperature?.offset ?? 0,
    });
    const QUANTIZED_OUTPUT = isQuantized(y);
    const SINKS = sinks !== undefined;
    this.#merge = device.kernel({
      name: "attention merge",
      source: mergeSource,
      constants: { WORKGROUP: 32, VALUE_DIM: valueDim, QUANTIZED_OUTPUT, SINKS, ...seen },
      snippets: [RECORDS, windowSource, ...(QUANTIZED_OUTPUT ? [quantizeGroupSource] : [])],
    }).bind(
      { rows: state.rows, tiles, partials, y: bufferOf(y), ...(sinks ? { sinks } : {}) },
      { heads, groups: this.#groups, split, max_splits: maxSplits, window: window?.size ?? 0 },
    );
  }

  /** Records `tiles` tiles whose sequences have at most `positions` positions. */
  encode(pass: GPUComputePassEncoder, tiles: number, positions: number): void {
    const { split, tileRows } = this.#tiling;
    const splits = Math.ceil(Math.min(positions, mostSeen(this.#options, tileRows)) / split);
    encodeDispatch(pass, this.#scores, [splits, this.#options.kvHeads * this.#chunks, tiles]);
    encodeDispatch(pass, this.#merge, [Math.ceil(this.#groups / 32), tileRows, tiles]);
  }
}

/** Most positions that the rows of a tile see together. */
function mostSeen(options: AttentionOptions, tileRows: number): number {
  const { window, causal = true, wholeImages = false } = options;
  const bounded = window && (causal ? !wholeImages : window.kind === "symmetric");
  return bounded ? window.size + tileRows : Infinity;
}

function slopesBuffer(device: Gpu, heads: number, maxBias: number): GPUBuffer {
  const slopes = alibiSlopes(heads, maxBias);
  const buffer = device.buffer("slopes", slopes.byteLength, "scratch");
  device.write(buffer, 0, slopes);
  return buffer;
}
