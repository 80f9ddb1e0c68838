// Keys or values of the cache in WebAssembly, of any type: reads elements as floats, and writes
// floats from the thread's memory as codes. Halves are read 2^112 too small (kernel.ts says why). Two
// vectors come from one load, so that V8 joins what is done with them (../README.md). Scales of a block
// are converted to floats in the thread's memory once, before its codes are read.

import {
  type Expression,
  f32x4,
  type FunctionBuilder,
  i16x8,
  i32,
  i32x4,
  i8x16,
  type Local,
  type Memory,
  shuffleLanes,
  type V128,
  v128,
} from "../wasm/mod.ts";
import { convertsHalves } from "../engine_features.ts";
import { HALF_BITS, halvesToFloats, lanes, loadFourHalves, NO_NUMBER } from "../formats/scales.ts";
import {
  BLOCK,
  CACHE_GROUP,
  cacheGroups,
  type CacheType,
  cellBytes,
  headBlockBytes,
  isCoded,
} from "../../ops/kv_cache.ts";

/** Bytes of a thread's memory that the scales of a block take as floats. */
export function scaleBytes(type: CacheType, dim: number): number {
  return isCoded(type) ? 4 * BLOCK * cacheGroups(dim) : 0;
}

/** Keys or values of one layer. */
export class CachedHeads {
  /** Bytes of a head at one position, and of a block of a head. */
  readonly cellBytes: number;
  readonly blockBytes: number;
  /** Whether elements are halves, which are read as numbers that are too small. */
  readonly isShifted: boolean;
  readonly isCoded: boolean;
  readonly #groups: number;

  /** @param panel the thread's memory @param scales where the scales of a block are there */
  constructor(
    readonly memory: Memory,
    readonly panel: Memory,
    readonly type: CacheType,
    readonly dim: number,
    readonly scales: number,
  ) {
    this.cellBytes = cellBytes(type, dim);
    this.blockBytes = headBlockBytes(type, dim);
    this.isShifted = type === "f16";
    this.isCoded = isCoded(type);
    this.#groups = cacheGroups(dim);
  }

  /** Prepares for reading the block at an address: converts its scales, if it has any. */
  prepare(f: FunctionBuilder, block: Local<"i32">): void {
    if (!this.isCoded) return;
    const from = f.let(i32.add(block, BLOCK * this.cellBytes));
    const to = f.let(i32.const(0));
    f.forUpTo(to, 4 * BLOCK * this.#groups, 16, () => {
      const floats = halvesToFloats(f, loadFourHalves(this.memory, from));
      f.do(this.panel.v128.store(to, floats, this.scales));
      f.increase(from, 8);
    });
  }

  /**
   * The address of the scales of a position; without meaning if the type has no scales.
   *
   * @param at four times the position within the block
   * @param column the first column of a group, or one within it
   */
  scaleAt(f: FunctionBuilder, at: Local<"i32">, column?: Local<"i32">): Local<"i32"> {
    if (!this.isCoded) return at;
    const place = i32.mul(at, this.#groups);
    return f.let(column ? i32.add(place, i32.shl(i32.shr_u(column, 5), 2)) : place);
  }

  /** Loads a scale: of the `group`-th group from an address of scaleAt() on, `positions` further. */
  scale(
    f: FunctionBuilder,
    place: Local<"i32">,
    group = 0,
    positions = 0,
  ): Local<"v128"> | undefined {
    if (!this.isCoded) return undefined;
    const offset = this.scales + 4 * (group + positions * this.#groups);
    return f.let(this.panel.v128.load32_splat(place, offset));
  }

  /** Moves a pointer to scales to the next position. */
  nextScale(f: FunctionBuilder, place: Local<"i32">): void {
    if (this.isCoded) f.increase(place, 4 * this.#groups);
  }

  /** The offset of an element in its head, in bytes. */
  bytesAt(element: Local<"i32">): Expression<"i32"> {
    if (this.type === "q4_0") return i32.shr_u(element, 1);
    return i32.mul(element, this.cellBytes / this.dim);
  }

  /**
   * Elements `element` to `element + 3` of those at an address, as floats.
   * @param most collects the greatest halves, of 16 bits, which show infinity and NaN
   */
  load(
    f: FunctionBuilder,
    at: Local<"i32">,
    element: number,
    scale: Local<"v128"> | undefined,
    most?: Local<"v128">,
  ): V128 {
    const { memory } = this;
    if (this.type === "f32") return memory.v128.load(at, 4 * element);
    if (this.isShifted) {
      const halves = f.let(memory.v128.load64_zero(at, 2 * element));
      if (most) f.set(most, i16x8.max_s(most, halves));
      return shifted(f, i32x4.extend_low_i16x8_s(halves));
    }
    return f32x4.mul(f32x4.convert_i32x4_s(this.#codes(f, at, element)), scale!);
  }

  /** Eight neighbouring elements, of one load unless they are f32; load() gives four. */
  loadPair(
    f: FunctionBuilder,
    at: Local<"i32">,
    element: number,
    scale: Local<"v128"> | undefined,
    most?: Local<"v128">,
  ): [V128, V128] {
    const { memory } = this;
    if (this.type === "f32") {
      return [memory.v128.load(at, 4 * element), memory.v128.load(at, 4 * element + 16)];
    }
    if (this.isShifted) {
      const halves = f.let(memory.v128.load(at, 2 * element));
      if (most) f.set(most, i16x8.max_s(most, halves));
      return [
        shifted(f, i32x4.extend_low_i16x8_s(halves)),
        shifted(f, i32x4.extend_high_i16x8_s(halves)),
      ];
    }
    const scaled = (codes: V128) => f32x4.mul(f32x4.convert_i32x4_s(codes), scale!);
    if (this.type === "q8_0") {
      const words = f.let(memory.v128.load8x8_s(at, element));
      return [
        scaled(i32x4.extend_low_i16x8_s(words)),
        scaled(i32x4.extend_high_i16x8_s(words)),
      ];
    }
    // Codes of a byte are four elements apart: the low ones come first, then the high ones.
    const word = f.let(memory.v128.load32_zero(at, element >> 1));
    const fifteen = lanes(f, Uint32Array.of(0x0f0f0f0f));
    const low = f.let(v128.and(word, fifteen));
    const high = f.let(v128.and(i32x4.shr_u(word, 4), fifteen));
    const codes = i8x16.sub(
      shuffleLanes(low, high, [0, 4, 1, 5]),
      lanes(f, Uint32Array.of(0x08080808)),
    );
    const words = f.let(i16x8.extend_low_i8x16_s(codes));
    return [
      scaled(i32x4.extend_low_i16x8_s(words)),
      scaled(i32x4.extend_high_i16x8_s(words)),
    ];
  }

  /** Vectors of four elements each, from the first on. */
  loadAll(
    f: FunctionBuilder,
    at: Local<"i32">,
    vectors: number,
    scale: Local<"v128"> | undefined,
    most?: Local<"v128">,
  ): Local<"v128">[] {
    const loaded: Local<"v128">[] = [];
    while (loaded.length < vectors) {
      const element = 4 * loaded.length;
      const own = loaded.length + 1 < vectors
        ? this.loadPair(f, at, element, scale, most)
        : [this.load(f, at, element, scale, most)];
      for (const vector of own) loaded.push(f.let(vector));
    }
    return loaded;
  }

  /** Vectors of elements, with halves as the numbers that they are; infinity is NaN. */
  loadFloats(
    f: FunctionBuilder,
    at: Local<"i32">,
    vectors: number,
    scale: Local<"v128"> | undefined,
  ): Local<"v128">[] {
    if (!this.isShifted) return this.loadAll(f, at, vectors, scale);
    return Array.from(
      { length: vectors },
      (_, i) => f.let(halvesToFloats(f, loadFourHalves(this.memory, at, 8 * i))),
    );
  }

  #codes(f: FunctionBuilder, at: Local<"i32">, element: number): V128 {
    const { memory } = this;
    if (this.type === "q8_0") {
      const bytes = memory.v128.load32_zero(at, element);
      return i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(bytes));
    }
    const word = memory.v128.load32_zero(at, 4 * (element >> 3));
    const pairs = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(word));
    const codes = element & 4
      ? i32x4.shr_u(pairs, 4)
      : v128.and(pairs, lanes(f, Uint32Array.of(15)));
    return i32x4.sub(codes, lanes(f, Int32Array.of(8)));
  }

  /** Writes a head of floats, at `from` in the thread's memory, to a position of a block. */
  encode(
    f: FunctionBuilder,
    from: number,
    block: Local<"i32">,
    position: Local<"i32">,
  ): void {
    const origin = i32.const(0);
    const cell = f.let(i32.add(block, i32.mul(position, this.cellBytes)));
    const scales = f.let(
      i32.add(block, i32.add(i32.mul(position, 2 * this.#groups), BLOCK * this.cellBytes)),
    );
    for (let group = 0; group < this.#groups; group++) {
      const first = group * CACHE_GROUP;
      const quads = Math.min(CACHE_GROUP, this.dim - first) / 4;
      const values = Array.from(
        { length: quads },
        (_, i) => f.let(this.panel.v128.load(origin, from + 4 * first + 16 * i)),
      );
      const scale = this.#scaleOf(f, values);
      const half = f.let(floatsToHalves(f, scale));
      f.do(this.memory.i32.store16(scales, i32x4.extract_lane(half, 0), 2 * group));
      const stored = convertsHalves() ? half : i32x4.extend_low_i16x8_s(half);
      const one = lanes(f, Float32Array.of(1));
      const factor = f.let(f32x4.div(one, f.let(halvesToFloats(f, stored))));
      const codes = values.map((value) => {
        const code = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(value, factor)));
        const [least, greatest] = this.type === "q8_0" ? [-127, 127] : [-8, 7];
        return f.let(
          i32x4.min_s(
            i32x4.max_s(code, lanes(f, Int32Array.of(least!))),
            lanes(f, Int32Array.of(greatest!)),
          ),
        );
      });
      this.#storeCodes(f, cell, first, codes);
    }
  }

  /** The scale of a group, before it is rounded. */
  #scaleOf(f: FunctionBuilder, values: readonly Local<"v128">[]): V128 {
    const extreme = (pick: (a: V128, b: V128) => V128, of: (value: Local<"v128">) => V128) => {
      const found = f.let(of(values[0]!));
      for (const value of values.slice(1)) f.set(found, pick(found, of(value)));
      for (const order of [[2, 3, 0, 1], [1, 0, 3, 2]]) {
        f.set(found, pick(found, shuffleLanes(found, found, order)));
      }
      return found;
    };
    if (this.type === "q8_0") {
      const peak = extreme(f32x4.max, f32x4.abs);
      return f32x4.div(peak, lanes(f, Float32Array.of(127)));
    }
    const [most, least] = [extreme(f32x4.max, (v) => v), extreme(f32x4.min, (v) => v)];
    const isUp = f32x4.gt(most, f32x4.neg(least));
    const peak = f.let(v128.bitselect(most, least, isUp));
    return f32x4.div(peak, lanes(f, Float32Array.of(-8)));
  }

  #storeCodes(
    f: FunctionBuilder,
    cell: Local<"i32">,
    first: number,
    codes: readonly Local<"v128">[],
  ): void {
    const { memory } = this;
    if (this.type === "q8_0") {
      codes.forEach((code, i) => {
        const words = f.let(i16x8.narrow_i32x4_s(code, code));
        const bytes = f.let(i8x16.narrow_i16x8_s(words, words));
        f.do(memory.i32.store(cell, i32x4.extract_lane(bytes, 0), first + 4 * i));
      });
      return;
    }
    const eight = lanes(f, Int32Array.of(8));
    for (let i = 0; i < codes.length; i += 2) {
      const [low, high] = [codes[i]!, codes[i + 1]!].map((code) => i32x4.add(code, eight));
      const pairs = f.let(v128.or(low!, i32x4.shl(high!, 4)));
      const words = f.let(i16x8.narrow_i32x4_s(pairs, pairs));
      const bytes = f.let(i8x16.narrow_i16x8_u(words, words));
      f.do(memory.i32.store(cell, i32x4.extract_lane(bytes, 0), (first + 4 * i) / 2));
    }
  }
}

/** Halves, as signed lanes of 32 bits, in the place of a float's bits. */
function shifted(f: FunctionBuilder, halves: V128): V128 {
  return v128.and(i32x4.shl(halves, 13), lanes(f, Uint32Array.of(HALF_BITS)));
}

/** The bits of the greatest f16 in the place of a float's, plus the most that is still rounded down to it. */
const GREATEST = 0x0f7fefff;

/** Four floats as f16 in the low half of a vector, rounded to nearest, ties to even. */
export function floatsToHalves(f: FunctionBuilder, given: V128): V128 {
  const values = f.let(given);
  // Multiplied by 2^-112, a float has the exponent bits of f16, and 13 more bits of fraction.
  const scaled = f.let(f32x4.abs(f32x4.mul(values, lanes(f, Float32Array.of(2 ** -112)))));
  const odd = v128.and(i32x4.shr_u(scaled, 13), lanes(f, Uint32Array.of(1)));
  const rounded = i32x4.add(i32x4.add(scaled, lanes(f, Uint32Array.of(0xfff))), odd);
  const sign = v128.and(i32x4.shr_u(values, 16), lanes(f, Uint32Array.of(0x8000)));
  const signed = f.let(v128.or(i32x4.shr_u(rounded, 13), sign));
  // Lanes that are too large, infinite or NaN become NO_NUMBER, which has no sign (halvesToFloats()).
  const isNoNumber = i32x4.gt_s(scaled, lanes(f, Uint32Array.of(GREATEST)));
  const halves = v128.bitselect(lanes(f, Uint32Array.of(NO_NUMBER)), signed, isNoNumber);
  const extended = f.let(i32x4.shr_s(i32x4.shl(halves, 16), 16));
  return f.let(i16x8.narrow_i32x4_s(extended, extended));
}
