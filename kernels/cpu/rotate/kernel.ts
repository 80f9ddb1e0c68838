// RoPE in WebAssembly: queries are rotated in place, keys on their way into the paged KV cache,
// which also takes the values. One item is a row. Angles come from two tables of (cos, sin),
// position = 256 * high + low, as kernels/ops/rope_tables.ts makes them. With M-RoPE (Wang et al.
// 2024) the pairs of an image's row rotate by different components of its position.

import type { Buffer } from "../../operation.ts";
import type { FloatRows } from "../../ops/activation.ts";
import { type AttentionState, BLOCK, type CacheType, type LayerCache } from "../../ops/kv_cache.ts";
import { LOW_POSITIONS } from "../../ops/rope_tables.ts";
import {
  headNorms,
  type RotarySections,
  type RotateOptions,
  type RotateRowsOptions,
} from "../../ops/rotate.ts";
import { STEP_ROW } from "../../ops/step_records.ts";
import { type CachedMemories, cacheKernels } from "../attention/cache.ts";
import { CachedHeads, floatsToHalves } from "../attention/cached_heads.ts";
import type { CpuCore } from "../core.ts";
import { keepCall, keepCalls } from "../kept_calls.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { workModule } from "../modules.ts";
import { norm } from "../norm.ts";
import { forFours } from "../vectors.ts";
import {
  f32x4,
  type FunctionBuilder,
  i32,
  i32x4,
  type Local,
  type Memory,
  type ModuleBuilder,
  shuffleLanes,
  type V128,
} from "../wasm/mod.ts";

/** The properties for which a kernel is made. */
export interface RotationShape {
  readonly headDim: number;
  readonly valueDim: number;
  /** Rotated elements of a head, and the first of them: multiples of four. */
  readonly rotary: number;
  readonly rotaryStart: number;
  /** Pairs (i, i + rotary / 2) instead of (2i, 2i + 1). */
  readonly halfPairs: boolean;
  /** Whether keys, and values, go into a cache, and what that has. */
  readonly cached: boolean;
  readonly hasValues: boolean;
  readonly keyType: CacheType;
  readonly valueType: CacheType;
  /** M-RoPE: the part of the position, 0 to 2, that rotates each pair. */
  readonly parts?: readonly number[] | undefined;
}

/** The arguments of rotation, as words in memory; `stride` and `first` in bytes. */
export const ROTATION_ARGUMENTS = [
  ...["rows", "qkv", "stride", "first", "low", "high", "table", "maxBlocks"] as const,
  ...["keys", "values", "heads", "kvHeads"] as const,
] as const;

const EVEN = [0, 2, 4, 6];
const ODD = [1, 3, 5, 7];

/** Adds `rotate(record, first, last)` for rows `first` to `last`. */
export function addRotation(
  module: ModuleBuilder,
  { work, panel, ...caches }: CachedMemories,
  shape: RotationShape,
): void {
  const { headDim, valueDim, rotary, rotaryStart, halfPairs, cached, hasValues } = shape;
  const { parts } = shape;
  const pairs = rotary / 2;
  const sines = 4 * (pairs + pairs % 4); // whole vectors of cosines come before them
  const origin = i32.const(0);
  /** Where a head is before it becomes codes. */
  const staged = 2 * sines;
  const heads = (memory: Memory, type: CacheType, dim: number) =>
    new CachedHeads(memory, panel, type, dim, 0);
  const [ofKeys, ofValues] = [
    heads(caches.keys, shape.keyType, headDim),
    heads(caches.values, shape.valueType, valueDim),
  ];

  /** Where the tables have a position: a row of each. */
  type TableRows = readonly [low: Local<"i32">, high: Local<"i32">];
  /** Cosines, and behind them sines, of a row into the thread's memory, by the tables of each part. */
  const writeAngles = (f: FunctionBuilder, tables: readonly TableRows[]) => {
    for (let pair = 0; pair < pairs; pair += 4) {
      const ofPair = (i: number) => tables[parts?.[Math.min(pair + i, pairs - 1)] ?? 0]!;
      // Two pairs are a vector: of one row, or of two.
      const two = (table: 0 | 1, i: number) => {
        const [a, b] = [ofPair(i)[table], ofPair(i + 1)[table]];
        const at = 8 * (pair + i);
        if (a === b) return f.let(work.v128.load(a, at));
        const [first, second] = [work.v128.load64_splat(a, at), work.v128.load64_splat(b, at + 8)];
        return f.let(shuffleLanes(first, second, [0, 1, 4, 5]));
      };
      const [l0, l1, h0, h1] = [two(0, 0), two(0, 2), two(1, 0), two(1, 2)];
      const [lowCos, lowSin] = [EVEN, ODD].map((part) => f.let(shuffleLanes(l0, l1, part)));
      const [highCos, highSin] = [EVEN, ODD].map((part) => f.let(shuffleLanes(h0, h1, part)));
      const cos = f32x4.sub(f32x4.mul(lowCos, highCos), f32x4.mul(lowSin, highSin));
      const sin = f32x4.add(f32x4.mul(lowCos, highSin), f32x4.mul(lowSin, highCos));
      f.do(panel.v128.store(origin, cos, 4 * pair));
      f.do(panel.v128.store(origin, sin, sines + 4 * pair));
    }
  };
  /** Stores four elements of a head, or two: those of the first lanes. */
  type Store = (element: number, values: V128, count?: 2 | 4) => void;
  /** A head's elements as they are after the rotation, each given to `store`. */
  const rotateHead = (f: FunctionBuilder, from: Local<"i32">, store: Store, all: boolean) => {
    for (let element = 0; all && element < headDim; element += 4) {
      const isRotated = element >= rotaryStart && element < rotaryStart + rotary;
      if (!isRotated) store(element, f.let(work.v128.load(from, 4 * element)));
    }
    for (let pair = 0; pair < pairs; pair += 4) {
      const isWhole = pair + 4 <= pairs; // the last two pairs may be alone
      const one = rotaryStart + (halfPairs ? pair : 2 * pair);
      const two = halfPairs ? one + pairs : isWhole ? one + 4 : one;
      const [x, y] = [one, two].map((element) => f.let(work.v128.load(from, 4 * element)));
      const a = halfPairs ? x : f.let(shuffleLanes(x, y, EVEN));
      const b = halfPairs ? y : f.let(shuffleLanes(x, y, ODD));
      const cos = f.let(panel.v128.load(origin, 4 * pair));
      const sin = f.let(panel.v128.load(origin, sines + 4 * pair));
      const rotatedA = f.let(f32x4.sub(f32x4.mul(a, cos), f32x4.mul(b, sin)));
      const rotatedB = f.let(f32x4.add(f32x4.mul(b, cos), f32x4.mul(a, sin)));
      if (halfPairs) {
        store(one, rotatedA, isWhole ? 4 : 2);
        store(two, rotatedB, isWhole ? 4 : 2);
      } else {
        store(one, f.let(shuffleLanes(rotatedA, rotatedB, [0, 4, 1, 5])));
        if (isWhole) store(two, f.let(shuffleLanes(rotatedA, rotatedB, [2, 6, 3, 7])));
      }
    }
  };
  const storeFloats = (f: FunctionBuilder, memory: Memory, to: Local<"i32">): Store =>
  (
    element,
    values,
    count = 4,
  ) => {
    const place = 4 * element;
    if (count === 4) f.do(memory.v128.store(to, values, place));
    else f.do(memory.v128.store64_lane(to, values, 0, place));
  };
  const zero = (f: FunctionBuilder) => f.let(i32.const(0));
  /** Stores a head, which `give` gives, at a position of a block. */
  const storeCached = (
    f: FunctionBuilder,
    heads: CachedHeads,
    block: Local<"i32">,
    position: Local<"i32">,
    give: (store: Store) => void,
  ) => {
    const { memory, type } = heads;
    if (heads.isCoded) {
      const to = zero(f);
      const store = storeFloats(f, panel, to);
      give((element, values, count) => store(element + staged / 4, values, count));
      return heads.encode(f, staged, block, position);
    }
    const to = f.let(i32.add(block, i32.mul(position, heads.cellBytes)));
    if (type === "f32") return give(storeFloats(f, memory, to));
    give((element, values, count = 4) => {
      const halves = floatsToHalves(f, values);
      if (count === 4) f.do(memory.v128.store64_lane(to, halves, 0, 2 * element));
      else f.do(memory.i32.store(to, i32x4.extract_lane(halves, 0), 2 * element));
    });
  };

  const kernel = { name: "rotate", takes: ROTATION_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) =>
    forItems(f, first, last, (row) => {
      const { heads, kvHeads } = given;
      const entry = f.let(i32.add(given.rows, i32.mul(row, STEP_ROW.bytes)));
      const position = f.let(work.i32.load(entry, STEP_ROW.byte.position));
      const rowsOf = (at: Local<"i32">): TableRows => [
        f.let(i32.add(given.low, i32.mul(i32.rem_u(at, LOW_POSITIONS), 8 * pairs))),
        f.let(i32.add(given.high, i32.mul(i32.div_u(at, LOW_POSITIONS), 8 * pairs))),
      ];
      if (parts) {
        const { time, height, width } = STEP_ROW.byte;
        const tables = [time, height, width].map((part) =>
          rowsOf(f.let(work.i32.load(entry, part)))
        );
        writeAngles(f, tables);
      } else if (rotary > 0) writeAngles(f, [rowsOf(position)]);
      const x = f.let(
        i32.add(i32.add(given.qkv, i32.mul(row, given.stride)), given.first),
      );
      const head = f.let(i32.const(0));
      f.forUpTo(head, heads, 1, () => {
        rotateHead(f, x, storeFloats(f, work, x), false);
        f.increase(x, 4 * headDim);
      });
      if (!cached) return;
      const slot = work.i32.load(entry, STEP_ROW.byte.slot);
      const listed = i32.add(i32.mul(slot, given.maxBlocks), i32.div_u(position, BLOCK));
      const block = f.let(work.i32.load(i32.add(given.table, i32.mul(listed, 4))));
      const cell = f.let(i32.rem_u(position, BLOCK));
      const blockIn = (cache: Local<"i32">, { blockBytes }: CachedHeads) =>
        f.let(i32.add(cache, i32.mul(i32.mul(block, kvHeads), blockBytes)));
      const key = blockIn(given.keys, ofKeys);
      f.set(head, 0);
      f.forUpTo(head, kvHeads, 1, () => {
        storeCached(f, ofKeys, key, cell, (store) => rotateHead(f, x, store, true));
        f.increase(x, 4 * headDim);
        f.increase(key, ofKeys.blockBytes);
      });
      if (!hasValues) return;
      const value = blockIn(given.values, ofValues);
      f.set(head, 0);
      f.forUpTo(head, kvHeads, 1, () => {
        storeCached(f, ofValues, value, cell, (store) => {
          for (let element = 0; element < valueDim; element += 4) {
            store(element, f.let(work.v128.load(x, 4 * element)));
          }
        });
        f.increase(x, 4 * valueDim);
        f.increase(value, ofValues.blockBytes);
      });
    }));
}

// Rotation on the host's side: chooses the kernel, and passes it the addresses of its operands.

/** RoPE on queries and keys. Keys and values go into the cache. */
export function rotate(
  core: CpuCore,
  qkv: FloatRows,
  cache: LayerCache | undefined,
  state: AttentionState,
  options: RotateOptions,
) {
  const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
  const { rotary, rotaryStart = 0, halfPairs, first = 0, sections } = options;
  const cached = cache !== undefined && kvHeads > 0;
  const parts = sections && rotary > 0 ? partsOf(rotary / 2, sections) : undefined;
  const shape: RotationShape = {
    headDim,
    valueDim,
    rotary,
    rotaryStart,
    halfPairs,
    cached,
    hasValues: cached && !sharedValues,
    keyType: cached ? cache.types.keys : "f32",
    valueType: cached ? cache.types.values : "f32",
    parts,
  };
  const kernels = cacheKernels(
    core,
    `rotate ${Object.values(shape)}`,
    cached ? cache : undefined,
    (module, memories) => addRotation(module, memories, shape),
  );
  const angles = rotary > 0 ? cpu(options.angles!).address : 0;
  const words = inOrder(ROTATION_ARGUMENTS, {
    rows: cpu(state.rows).address,
    qkv: cpu(qkv.floats).address,
    stride: 4 * qkv.stride,
    first: 4 * first,
    low: angles,
    high: angles + LOW_POSITIONS * 4 * rotary,
    table: cpu(state.table).address,
    maxBlocks: state.maxBlocks,
    keys: cached ? cpu(cache.keys).address : 0,
    values: shape.hasValues ? cpu(cache!.values!).address : 0,
    // Without a cache, keys are rotated in place, as queries are.
    heads: cached ? heads : heads + kvHeads,
    kvHeads: cached ? kvHeads : 0,
  });
  const normed = headNorms(options).map(({ norm: own, vectors }) =>
    norm(core, qkv, qkv, own, { vectors })
  );
  const run = keepCalls(
    core,
    (rows: number) => [[{ kernels, name: "rotate", arguments: words, items: rows }]],
  );
  return (rows: number) => {
    for (const runNorm of normed) runNorm(rows);
    run(rows);
  };
}

/**
 * The component of an M-RoPE position that rotates each pair; undefined if it is the position in
 * the cache.
 */
function partsOf(
  pairs: number,
  { sections = [], interleaved = false }: RotarySections,
): number[] | undefined {
  if (sections.length === 0) return undefined;
  const [time = 0, height = 0, width = 0, other = 0] = sections;
  return Array.from({ length: pairs }, (_, pair) => {
    const at = pair % (time + height + width + other);
    return interleaved ? at % 3 : Number(at >= time) + Number(at >= time + height);
  });
}

// Rotation of heads by angles of each row, as for images, in WebAssembly. One item is a row.

const TAKES = ["x", "stride", "angles", "heads", "headDim", "distance"] as const;

function addRotateRows(module: ModuleBuilder, work: Memory): void {
  addKernel(
    module,
    work,
    { name: "rotate_rows", takes: TAKES },
    (f, given, first, last) =>
      forItems(f, first, last, (row) => {
        const { headDim, distance } = given;
        const anglesOfRow = f.let(i32.add(given.angles, i32.mul(row, i32.mul(headDim, 4))));
        const head = f.let(i32.add(given.x, i32.mul(row, given.stride)));
        const end = f.let(i32.add(head, i32.mul(i32.mul(given.heads, headDim), 4)));
        f.while(i32.lt_u(head, end), () => {
          const angles = f.let(anglesOfRow);
          const nextHead = f.let(i32.add(head, i32.mul(headDim, 4)));
          f.while(i32.lt_u(head, nextHead), () => {
            const other = f.let(i32.add(head, i32.mul(distance, 4)));
            forFours(f, work, distance, (four) => {
              // (cos, sin) of each pair, one after the other.
              const pairs = f.let(i32.add(angles, i32.shl(four.at, 1)));
              const [a, b] = [f.let(work.v128.load(pairs)), f.let(work.v128.load(pairs, 16))];
              const cos = f.let(shuffleLanes(a, b, [0, 2, 4, 6]));
              const sin = f.let(shuffleLanes(a, b, [1, 3, 5, 7]));
              const [x, y] = [f.let(four.load(head)), f.let(four.load(other))];
              four.store(head, f32x4.sub(f32x4.mul(x, cos), f32x4.mul(y, sin)));
              four.store(other, f32x4.add(f32x4.mul(y, cos), f32x4.mul(x, sin)));
            });
            f.increase(angles, i32.mul(distance, 8));
            f.increase(head, i32.mul(distance, 8));
          });
        });
      }),
  );
}

/** Rotates the heads of each row by the row's angles. */
export function rotateRows(
  core: CpuCore,
  x: FloatRows,
  angles: Buffer,
  { heads, headDim, distance }: RotateRowsOptions,
) {
  const kernels = core.kernels("rotate rows", () => workModule(addRotateRows));
  const words = inOrder(TAKES, {
    x: cpu(x.floats).address,
    stride: 4 * x.stride,
    angles: cpu(angles).address,
    ...{ heads, headDim, distance },
  });
  return keepCall(
    core,
    (rows: number) => ({ kernels, name: "rotate_rows", arguments: words, items: rows }),
  );
}
