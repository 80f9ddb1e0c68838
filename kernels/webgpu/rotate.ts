// RoPE on queries and keys, which also writes keys and values into the paged KV cache, after norms of
// the heads: the bindings of rotate.wgsl. Every part is optional: zero heads of a kind, `rotary: 0`
// for no rotation, and no norms.

import cacheSource from "./kv_cache.wgsl" with { type: "text" };
import rotateSource from "./rotate.wgsl" with { type: "text" };
import type { FloatRows } from "../ops/activation.ts";
import { type AttentionState, BLOCK, isCoded, type LayerCache } from "../ops/kv_cache.ts";
import { headNorms, type RotateOptions } from "../ops/rotate.ts";
import { STEP_ROW } from "../ops/step_records.ts";
import { CacheCodes } from "./cache_codes.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { Normalize } from "./norm.ts";
import { structs } from "./structs.ts";
import { reduction } from "./workgroup.ts";

const WORKGROUP = 32;

/** RoPE on queries and keys. Keys and values go into the cache. */
export class Rotate {
  readonly #dispatch: Dispatch | undefined;
  readonly #workgroups: number;
  /** Norms of heads that have to come before. */
  readonly #norms: readonly Normalize[];
  /** Writes keys and values if some are codes; then they are rotated in place before. */
  readonly #codes: readonly CacheCodes[];

  /**
   * @param qkv [rows, q, k and v heads]: q is rotated in place
   * @param cache not needed with `kvHeads: 0`
   */
  constructor(
    device: Gpu,
    qkv: FloatRows,
    given: LayerCache | undefined,
    state: AttentionState,
    asked: RotateOptions,
  ) {
    const isOfCodes = given !== undefined && asked.kvHeads > 0 &&
      Object.values(given.types).some(isCoded);
    this.#codes = isOfCodes ? codesOf(device, qkv, given, state, asked) : [];
    const cache = isOfCodes ? undefined : given;
    const options = isOfCodes
      ? { ...asked, heads: asked.heads + asked.kvHeads, kvHeads: 0 }
      : asked;
    const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
    const { rotary, rotaryStart = 0, halfPairs, angles, first = 0 } = options;
    const { sections: [time, height, width, other] = [], interleaved = false } = options.sections ??
      {};
    const SECTIONS = rotary > 0 && time !== undefined;
    const CACHED = kvHeads > 0;
    const VALUES = CACHED && !sharedValues;
    // Where keys become codes, they are among the heads that are rotated in place.
    const normed = headNorms(asked);
    const isFused = normed.length > 0 && !isOfCodes;
    this.#norms = isFused
      ? []
      : normed.map(({ norm, vectors }) => new Normalize(device, qkv, qkv, norm, { vectors }));
    const { queries, keys } = isFused ? options.norms! : {};
    const keyNorm = kvHeads > 0 ? keys : undefined;
    const reduced = isFused ? reduction(device, WORKGROUP) : undefined;
    const elements = (heads + kvHeads) * headDim + (VALUES ? kvHeads * valueDim : 0);
    this.#workgroups = isFused
      ? heads + kvHeads + (VALUES ? kvHeads : 0)
      : Math.ceil(elements / 4 / WORKGROUP);
    if (rotary === 0 && !isFused && (isOfCodes || !CACHED)) return;
    this.#dispatch = device.kernel({
      name: "rotate",
      source: rotateSource,
      constants: {
        WORKGROUP,
        ...reduced?.constants,
        NORMED: isFused,
        ...(isFused
          ? { QUERY_NORM: Number(queries !== undefined), KEY_NORM: Number(keyNorm !== undefined) }
          : {}),
        QUERY_WEIGHT: queries?.weight !== undefined,
        KEY_WEIGHT: keyNorm?.weight !== undefined,
        BLOCK,
        HEAD_DIM: headDim,
        VALUE_DIM: valueDim,
        HALF_KEYS: CACHED && cache!.types.keys === "f16",
        HALF_VALUES: VALUES && cache!.types.values === "f16",
        HALF_PAIRS: rotary > 0 && halfPairs,
        ROTATED: rotary > 0,
        IN_PLACE: (rotary > 0 || queries !== undefined) && heads > 0,
        SECTIONS,
        INTERLEAVED: interleaved,
        CACHED,
        VALUES,
      },
      snippets: [
        structs(STEP_ROW),
        ...(CACHED ? [cacheSource] : []),
        ...(reduced ? [reduced.snippet] : []),
      ],
    }).bind({
      rows: state.rows,
      qkv: qkv.floats,
      ...(rotary > 0 ? { angles: angles! } : {}),
      ...(queries?.weight ? { query_weight: queries.weight } : {}),
      ...(keyNorm?.weight ? { key_weight: keyNorm.weight } : {}),
      ...(CACHED ? { table: state.table, keys: cache!.keys } : {}),
      ...(VALUES ? { values: cache!.values! } : {}),
    }, {
      heads,
      kv_heads: kvHeads,
      rotary,
      rotary_start: rotaryStart,
      stride: qkv.stride,
      first,
      max_blocks: state.maxBlocks,
      time: time ?? 0,
      height: height ?? 0,
      width: width ?? 0,
      other: other ?? 0,
      query_epsilon: queries?.epsilon ?? 0,
      key_epsilon: keyNorm?.epsilon ?? 0,
      query_weight_step: queries?.weightPerVector ? headDim : 0,
      key_weight_step: keyNorm?.weightPerVector ? headDim : 0,
    });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    for (const norm of this.#norms) norm.encode(pass, rows);
    if (this.#dispatch) encodeDispatch(pass, this.#dispatch, [this.#workgroups, rows]);
    for (const codes of this.#codes) codes.encode(pass, rows);
  }
}

/** The kernels that write keys, and values if there are any. */
function codesOf(
  device: Gpu,
  qkv: FloatRows,
  { keys, values, types }: LayerCache,
  state: AttentionState,
  { heads, kvHeads, headDim, valueDim = headDim, sharedValues, first = 0 }: RotateOptions,
): CacheCodes[] {
  const column = first + heads * headDim;
  const parts = [{ cells: keys, type: types.keys, dim: headDim, first: column }];
  if (values && !sharedValues) {
    const behind = column + kvHeads * headDim;
    parts.push({ cells: values, type: types.values, dim: valueDim, first: behind });
  }
  return parts.map((part) => new CacheCodes(device, qkv, state, { ...part, kvHeads }));
}
