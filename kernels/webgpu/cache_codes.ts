// Writes keys or values of a step's rows to a KV cache with quantized types: the bindings of
// cache_codes.wgsl.

import codesSource from "./cache_codes.wgsl" with { type: "text" };
import type { Buffer } from "../operation.ts";
import type { FloatRows } from "../ops/activation.ts";
import {
  type AttentionState,
  BLOCK,
  cacheGroups,
  type CacheType,
  cellBytes,
  headBlockBytes,
  isCoded,
} from "../ops/kv_cache.ts";
import { STEP_ROW } from "../ops/step_records.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { structs } from "./structs.ts";

const WORKGROUP = 32;

/** The heads of keys, or of values, and their columns in a row. */
export interface CodedHeads {
  cells: Buffer;
  type: CacheType;
  kvHeads: number;
  /** Elements of a head. */
  dim: number;
  /** Column of the first head. */
  first: number;
}

/** Writes keys or values into the cache. */
export class CacheCodes {
  readonly #dispatch: Dispatch;
  readonly #workgroups: number;

  constructor(device: Gpu, qkv: FloatRows, state: AttentionState, heads: CodedHeads) {
    const { cells, type, kvHeads, dim, first } = heads;
    const GROUPS = cacheGroups(dim);
    this.#workgroups = Math.ceil(kvHeads * GROUPS / WORKGROUP);
    this.#dispatch = device.kernel({
      name: "cache codes",
      source: codesSource,
      constants: {
        WORKGROUP,
        BLOCK,
        DIM: dim,
        GROUPS,
        BLOCK_WORDS: headBlockBytes(type, dim) / 4,
        CODE_WORDS: BLOCK * cellBytes(type, dim) / 4,
        CODED: isCoded(type),
        Q4: type === "q4_0",
        HALF: type === "f16",
        FLOAT: type === "f32",
      },
      snippets: [structs(STEP_ROW)],
    }).bind(
      { rows: state.rows, qkv: qkv.floats, table: state.table, cells },
      { kv_heads: kvHeads, stride: qkv.stride, first, max_blocks: state.maxBlocks },
    );
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [this.#workgroups, rows]);
  }
}
