// Attention over the paged KV cache: the bindings of attention.wgsl and attention_merge.wgsl, and how
// query rows, heads and positions are shared out over workgroups. What differs between models is an
// option; those not used are not in the WGSL.

import attentionSource from "./attention.wgsl" with { type: "text" };
import cacheSource from "./kv_cache.wgsl" with { type: "text" };
import mergeSource from "./attention_merge.wgsl" with { type: "text" };
import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import windowSource from "./attention_window.wgsl" with { type: "text" };
import { type Activation, bufferOf, type FloatRows, GROUP, isQuantized } from "./activation.ts";
import { alibiSlopes, type AttentionOptions } from "./attention_options.ts";
import type { Device } from "./device.ts";
import { GpuError } from "./errors.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { type AttentionState, BLOCK, type HeadShape, type LayerCache } from "./kv_cache.ts";

/** How query rows and positions are shared out over workgroups. */
export interface AttentionTiling {
  /** Rows of one sequence per workgroup: 1 in decode. */
  tileRows: number;
  /** Positions per split. */
  split: number;
  /** Splits that the longest context has. */
  maxSplits: number;
  /**
   * [tiles] of (first row, rows, positions of the sequence after this step or 0, positions up to the
   * end of the image that all of these rows are of, or 0).
   */
  tiles: GPUBuffer;
  /** Scratch of `partialBytes`, shared by all layers. */
  partials: GPUBuffer;
}

/** Bytes of the splits' partial results. */
export function partialBytes(shape: HeadShape, rows: number, maxSplits: number): number {
  const { heads, headDim, valueDim = headDim } = shape;
  return rows * heads * maxSplits * (16 + valueDim * 4);
}

const WORKGROUP = 64;

/**
 * Most queries, rows times heads, whose vectors, scores and results one workgroup holds.
 * Errors: GpuError where it holds none.
 */
function mostQueries(device: Device, shape: HeadShape): number {
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
function chunkOf(device: Device, shape: HeadShape): { chunk: number; chunks: number } {
  const group = shape.heads / shape.kvHeads;
  const chunks = Math.ceil(group / mostQueries(device, shape));
  return { chunk: Math.ceil(group / chunks), chunks };
}

/** Most rows per tile whose queries and scores fit the workgroup memory: one to eight. */
export function mostTileRows(device: Device, shape: HeadShape): number {
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
    device: Device,
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
      snippets: [cacheSource, windowSource],
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
      snippets: [windowSource, ...(QUANTIZED_OUTPUT ? [quantizeGroupSource] : [])],
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

function slopesBuffer(device: Device, heads: number, maxBias: number): GPUBuffer {
  const slopes = alibiSlopes(heads, maxBias);
  const buffer = device.buffer("slopes", slopes.byteLength, "scratch");
  device.write(buffer, 0, slopes);
  return buffer;
}

/** Attention in plain loops: q [tokens, heads, headDim], k and v [tokens, kvHeads, ...]. */
export function attentionReference(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  options: Omit<AttentionOptions, "sinks" | "first"> & {
    sinks?: Float32Array;
    /** Positions of images: of the first row, and after the last one. */
    images?: readonly (readonly [first: number, end: number])[];
  },
): Float32Array {
  const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
  const { scale, softcap = 0, sinks, alibi = 0, temperature } = options;
  const tokens = q.length / (heads * headDim);
  const values = sharedValues ? k : v;
  const valueStride = sharedValues ? headDim : valueDim;
  const slopes = alibiSlopes(heads, alibi);
  const y = new Float32Array(tokens * heads * valueDim); // [tokens, heads, valueDim]
  for (let t = 0; t < tokens; t++) {
    const seen = Array.from({ length: tokens }, (_, p) => p).filter((p) => sees(options, t, p));
    const heat = temperature
      ? 1 +
        temperature.scale * Math.log(Math.floor((t + temperature.offset) / temperature.length) + 1)
      : 1;
    for (let h = 0; h < heads; h++) {
      const query = (t * heads + h) * headDim;
      const kv = Math.floor(h * kvHeads / heads);
      const scores = seen.map((p) => {
        let dot = 0;
        for (let d = 0; d < headDim; d++) dot += q[query + d] * k[(p * kvHeads + kv) * headDim + d];
        const score = dot * heat * scale;
        const capped = softcap > 0 ? softcap * Math.tanh(score / softcap) : score;
        return alibi > 0 ? capped - slopes[h] * Math.abs(t - p) : capped;
      });
      const sink = sinks?.[h] ?? -Infinity;
      const peak = Math.max(sink, ...scores);
      const weights = scores.map((score) => Math.exp(score - peak));
      const sum = weights.reduce((a, b) => a + b) + Math.exp(sink - peak);
      for (let d = 0; d < valueDim; d++) {
        const value = seen.reduce(
          (total, p, i) => total + weights[i] * values[(p * kvHeads + kv) * valueStride + d],
          0,
        );
        y[(t * heads + h) * valueDim + d] = value / sum;
      }
    }
  }
  return y;
}

/** Whether the query at one position sees the key at another. */
function sees(
  { window, causal = true, wholeImages = false, images = [] }: Parameters<
    typeof attentionReference
  >[3],
  query: number,
  key: number,
): boolean {
  const inOneImage = images.some(([first, end]) => first <= query && query < key && key < end);
  if (causal && key > query && !(wholeImages && inOneImage)) return false;
  if (window?.kind === "sliding") return key > query - window.size;
  if (window?.kind === "chunked") return key >= query - query % window.size;
  if (window?.kind === "symmetric") return Math.abs(query - key) <= Math.floor(window.size / 2);
  return true;
}
