// RoPE in WebAssembly: queries turn in place, keys on their way into the paged KV cache, where the values
// go too. One item is a row. Angles come from two tables of unit vectors, position = 256 * high + low, as
// kernels/ops/rope_tables.ts makes them. Positions of several parts (M-RoPE) go the plain way.

import {
  f32x4,
  type FunctionBuilder,
  i16x8,
  i32,
  i32x4,
  type Local,
  type Memory,
  type ModuleBuilder,
  shuffleLanes,
  type V128,
  v128,
} from "./wasm/mod.ts";
import { lanes, NO_NUMBER } from "./formats/scales.ts";
import { BLOCK } from "../ops/kv_cache.ts";
import { TURN } from "../ops/rope_tables.ts";

/** What a kernel is made for. */
export interface RotationShape {
  readonly headDim: number;
  readonly valueDim: number;
  /** Rotated elements of a head, a multiple of eight, or 0; and the first of them, a multiple of four. */
  readonly rotary: number;
  readonly rotaryStart: number;
  /** Pairs (i, i + rotary / 2) instead of (2i, 2i + 1). */
  readonly halfPairs: boolean;
  /** Whether keys, and values, go into a cache, and whether that has f16. */
  readonly cached: boolean;
  readonly hasValues: boolean;
  readonly half: boolean;
}

/** What rotation reads, as words in memory; `stride` and `first` in bytes. */
export const ROTATION_ARGUMENTS = [
  ...["rows", "qkv", "stride", "first", "low", "high", "table", "maxBlocks"],
  ...["keys", "values", "heads", "kvHeads"],
] as const;

/** Bytes of a thread's own memory that a shape needs. */
export function rotationPanelBytes({ rotary }: RotationShape): number {
  return 4 * rotary;
}

const EVEN = [0, 2, 4, 6];
const ODD = [1, 3, 5, 7];

/** Adds `rotate(record, first, last)` for rows `first` to `last`. */
export function addRotation(
  module: ModuleBuilder,
  work: Memory,
  panel: Memory,
  shape: RotationShape,
): void {
  const { headDim, valueDim, rotary, rotaryStart, halfPairs, cached, hasValues, half } = shape;
  const pairs = rotary / 2;
  const origin = i32.const(0);
  const elementBytes = half ? 2 : 4;

  /** Cosines, and behind them sines, of the row's position into the thread's memory. */
  const turn = (f: FunctionBuilder, low: Local<"i32">, high: Local<"i32">) => {
    for (let pair = 0; pair < pairs; pair += 4) {
      const [l0, l1, h0, h1] = [low, high].flatMap((table) =>
        [0, 16].map((offset) => f.let(work.v128.load(table, 8 * pair + offset)))
      );
      const [lowCos, lowSin] = [EVEN, ODD].map((part) => f.let(shuffleLanes(l0, l1, part)));
      const [highCos, highSin] = [EVEN, ODD].map((part) => f.let(shuffleLanes(h0, h1, part)));
      const cos = f32x4.sub(f32x4.mul(lowCos, highCos), f32x4.mul(lowSin, highSin));
      const sin = f32x4.add(f32x4.mul(lowCos, highSin), f32x4.mul(lowSin, highCos));
      f.do(panel.v128.store(origin, cos, 4 * pair));
      f.do(panel.v128.store(origin, sin, 4 * (pairs + pair)));
    }
  };
  /** Stores four elements of a head. */
  type Store = (element: number, values: V128) => void;
  /** A head's elements as they are after the rotation, each given to `store`. */
  const turnHead = (f: FunctionBuilder, from: Local<"i32">, store: Store, all: boolean) => {
    for (let element = 0; all && element < headDim; element += 4) {
      const isTurned = element >= rotaryStart && element < rotaryStart + rotary;
      if (!isTurned) store(element, f.let(work.v128.load(from, 4 * element)));
    }
    for (let pair = 0; pair < pairs; pair += 4) {
      const one = rotaryStart + (halfPairs ? pair : 2 * pair);
      const two = halfPairs ? one + pairs : one + 4;
      const [x, y] = [one, two].map((element) => f.let(work.v128.load(from, 4 * element)));
      const a = halfPairs ? x : f.let(shuffleLanes(x, y, EVEN));
      const b = halfPairs ? y : f.let(shuffleLanes(x, y, ODD));
      const cos = f.let(panel.v128.load(origin, 4 * pair));
      const sin = f.let(panel.v128.load(origin, 4 * (pairs + pair)));
      const turnedA = f.let(f32x4.sub(f32x4.mul(a, cos), f32x4.mul(b, sin)));
      const turnedB = f.let(f32x4.add(f32x4.mul(b, cos), f32x4.mul(a, sin)));
      store(one, halfPairs ? turnedA : f.let(shuffleLanes(turnedA, turnedB, [0, 4, 1, 5])));
      store(two, halfPairs ? turnedB : f.let(shuffleLanes(turnedA, turnedB, [2, 6, 3, 7])));
    }
  };
  const storeCached = (f: FunctionBuilder, to: Local<"i32">): Store => (element, values) => {
    if (!half) f.do(work.v128.store(to, values, 4 * element));
    else f.do(work.v128.store64_lane(to, floatsToHalves(f, values), 0, 2 * element));
  };

  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function("rotate", parameters, (f, { record, first, last }) => {
    const [rows, qkv, stride, start, low, high, table, maxBlocks, keys, values, heads, kvHeads] =
      ROTATION_ARGUMENTS.map((_, i) => f.let(work.i32.load(record, 4 * i)));
    const row = f.let(first);
    f.forUpTo(row, last, 1, () => {
      const entry = f.let(i32.add(rows, i32.mul(row, 16)));
      const position = f.let(work.i32.load(entry, 4));
      if (rotary > 0) {
        const at = (table: Local<"i32">, index: Parameters<typeof i32.mul>[0]) =>
          f.let(i32.add(table, i32.mul(index, 8 * pairs)));
        turn(f, at(low, i32.rem_u(position, TURN)), at(high, i32.div_u(position, TURN)));
      }
      const x = f.let(i32.add(i32.add(qkv, i32.mul(row, stride)), start));
      const head = f.let(i32.const(0));
      f.forUpTo(head, heads, 1, () => {
        const store: Store = (element, turned) => f.do(work.v128.store(x, turned, 4 * element));
        turnHead(f, x, store, false);
        f.increase(x, 4 * headDim);
      });
      if (!cached) return;
      const slot = work.i32.load(entry, 8);
      const listed = i32.add(i32.mul(slot, maxBlocks), i32.div_u(position, BLOCK));
      const block = f.let(work.i32.load(i32.add(table, i32.mul(listed, 4))));
      const cell = f.let(
        i32.add(i32.mul(i32.mul(block, kvHeads), BLOCK), i32.rem_u(position, BLOCK)),
      );
      const placeIn = (cache: Local<"i32">, dim: number) =>
        f.let(i32.add(cache, i32.mul(cell, dim * elementBytes)));
      const key = placeIn(keys, headDim);
      f.set(head, 0);
      f.forUpTo(head, kvHeads, 1, () => {
        turnHead(f, x, storeCached(f, key), true);
        f.increase(x, 4 * headDim);
        f.increase(key, BLOCK * headDim * elementBytes);
      });
      if (!hasValues) return;
      const value = placeIn(values, valueDim);
      f.set(head, 0);
      f.forUpTo(head, kvHeads, 1, () => {
        const store = storeCached(f, value);
        for (let element = 0; element < valueDim; element += 4) {
          store(element, f.let(work.v128.load(x, 4 * element)));
        }
        f.increase(x, 4 * valueDim);
        f.increase(value, BLOCK * valueDim * elementBytes);
      });
    });
  });
}

/** The bits of the greatest f16, 13 bits further up, and the most that does not round it up. */
const GREATEST = 0x0f7fefff;

/** Four floats as f16 in the low half of a vector, rounded to nearest, ties to even. */
function floatsToHalves(f: FunctionBuilder, values: V128): V128 {
  // Times 2^-112, the exponent is that of f16, and the fraction 13 bits too long.
  const scaled = f.let(f32x4.abs(f32x4.mul(values, lanes(f, Float32Array.of(2 ** -112)))));
  const odd = v128.and(i32x4.shr_u(scaled, 13), lanes(f, Uint32Array.of(1)));
  const rounded = i32x4.add(i32x4.add(scaled, lanes(f, Uint32Array.of(0xfff))), odd);
  const sign = v128.and(i32x4.shr_u(values, 16), lanes(f, Uint32Array.of(0x8000)));
  const signed = f.let(v128.or(i32x4.shr_u(rounded, 13), sign));
  // What is too large, infinite or NaN; halvesToFloats() says why it has no sign.
  const isNoNumber = i32x4.gt_s(scaled, lanes(f, Uint32Array.of(GREATEST)));
  const halves = v128.bitselect(lanes(f, Uint32Array.of(NO_NUMBER)), signed, isNoNumber);
  const extended = f.let(i32x4.shr_s(i32x4.shl(halves, 16), 16));
  return f.let(i16x8.narrow_i32x4_s(extended, extended));
}
