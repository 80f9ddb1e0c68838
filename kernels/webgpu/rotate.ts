// RoPE on queries and keys, which also writes keys and values into the paged KV cache, after norms of
// the heads: the bindings of rotate.wgsl. Every part is optional: zero heads of a kind, `rotary: 0`
// for no rotation, and no norms.

import codesSource from "./cache_codes.wgsl" with { type: "text" };
import cacheSource from "./kv_cache.wgsl" with { type: "text" };
import rotateSource from "./rotate.wgsl" with { type: "text" };
import { BLOCK, cacheGroups, type CacheType, cellBytes, isCoded } from "../ops/kv_cache.ts";
import { STEP_ROW } from "../ops/step_records.ts";
import { type Binders, bound } from "./bound.ts";
import { reduction, structs } from "./snippets.ts";

const WORKGROUP = 32;

export const { rotate }: Binders<"rotate"> = {
  rotate(device, qkv, cache, state, options) {
    const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
    const { rotary, rotaryStart = 0, halfPairs, angles, first = 0, norms = {} } = options;
    const { sections: [time, height, width, other] = [], interleaved = false } = options.sections ??
      {};
    const CACHED = kvHeads > 0;
    const VALUES = CACHED && !sharedValues;
    const queryNorm = heads > 0 ? norms.queries : undefined;
    const keyNorm = CACHED ? norms.keys : undefined;
    const NORMED = queryNorm !== undefined || keyNorm !== undefined;
    const KEY_BITS = CACHED ? codeBits(cache!.types.keys) : 0;
    const VALUE_BITS = VALUES ? codeBits(cache!.types.values) : 0;
    const CODED = KEY_BITS + VALUE_BITS > 0;
    const BY_HEAD = NORMED || CODED;
    const reduced = BY_HEAD ? reduction(device, WORKGROUP) : undefined;
    const elements = (heads + kvHeads) * headDim + (VALUES ? kvHeads * valueDim : 0);
    const values = VALUE_BITS === 0
      ? kvHeads
      : Math.ceil(kvHeads * cacheGroups(valueDim) / reduced!.constants.WORKGROUP);
    const workgroups = BY_HEAD
      ? heads + kvHeads + (VALUES ? values : 0)
      : Math.ceil(elements / 4 / WORKGROUP);
    if (rotary === 0 && !NORMED && !CACHED) return { encode() {} };
    return bound(device, {
      name: "rotate",
      source: rotateSource,
      constants: {
        WORKGROUP,
        ...reduced?.constants,
        BY_HEAD,
        NORMED,
        ...(NORMED
          ? { QUERY_NORM: Number(queryNorm !== undefined), KEY_NORM: Number(keyNorm !== undefined) }
          : {}),
        QUERY_WEIGHT: queryNorm?.weight !== undefined,
        KEY_WEIGHT: keyNorm?.weight !== undefined,
        BLOCK,
        HEAD_DIM: headDim,
        VALUE_DIM: valueDim,
        HALF_KEYS: CACHED && cache!.types.keys === "f16",
        HALF_VALUES: VALUES && cache!.types.values === "f16",
        CODED_KEYS: KEY_BITS > 0,
        CODED_VALUES: VALUE_BITS > 0,
        ...(CODED ? { KEY_BITS, VALUE_BITS } : {}),
        HALF_PAIRS: rotary > 0 && halfPairs,
        ROTATED: rotary > 0,
        IN_PLACE: (rotary > 0 || queryNorm !== undefined) && heads > 0,
        SECTIONS: rotary > 0 && time !== undefined,
        INTERLEAVED: interleaved,
        CACHED,
        VALUES,
        PLAIN_VALUES: VALUES && VALUE_BITS === 0,
      },
      snippets: [
        structs(STEP_ROW),
        ...(CACHED ? [cacheSource] : []),
        ...(CODED ? [codesSource] : []),
        ...(reduced ? [reduced.snippet] : []),
      ],
    }, {
      rows: state.rows,
      qkv: qkv.floats,
      ...(rotary > 0 ? { angles: angles! } : {}),
      ...(queryNorm?.weight ? { query_weight: queryNorm.weight } : {}),
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
      query_epsilon: queryNorm?.epsilon ?? 0,
      key_epsilon: keyNorm?.epsilon ?? 0,
      query_weight_step: queryNorm?.weightPerVector ? headDim : 0,
      key_weight_step: keyNorm?.weightPerVector ? headDim : 0,
    }, (rows) => [workgroups, rows]);
  },
};

/** Bits of an element that is a code; 0 for floats. */
function codeBits(type: CacheType): number {
  return isCoded(type) ? 8 * cellBytes(type, 1) : 0;
}
