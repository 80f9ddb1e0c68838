// Activations as products read them: groups of 32 int8 codes with a scale, x = scale * code,
// and the negated sums of the codes, for formats whose codes have an offset.
//
//     narrow: 32 codes of 8 bits, then 16 bytes
//     wide:   32 codes of 16 bits, or 32 magnitudes and 32 bytes that are 255 where a code is negative;
//             then 16 bytes
//     the 16 bytes: scale (f32), then -1 times the sum of the first 16 codes, the last 16, all (i32);
//             beside magnitudes, of those codes that are negative
//
// They are [groups, tokens], so that what a tile reads is side by side.

import {
  f32,
  f32x4,
  type FunctionBuilder,
  i16x8,
  i32,
  i32x4,
  i8x16,
  type Memory,
  type ModuleBuilder,
  shuffleLanes,
  type V128,
  v128,
} from "../wasm/mod.ts";
import { GROUP } from "../formats/format.ts";
import { type DotProduct, MAXIMUM_CODE } from "../dot_product.ts";

/** Bytes of a group's codes. */
export function codeBytes(isWide: boolean): number {
  return isWide ? 2 * GROUP : GROUP;
}

/** Bytes of a group. */
export function activationBytes(isWide: boolean): number {
  return codeBytes(isWide) + 16;
}

/** (scale, minus the sum of the first half, of the last half, of all) of 32 integers of 16 bits. */
function withSums(f: FunctionBuilder, scale: V128, words: readonly V128[], ones: V128): V128 {
  const [a, b] = [0, 2].map((i) => {
    const [first, second] = [
      i32x4.dot_i16x8_s(words[i], ones),
      i32x4.dot_i16x8_s(words[i + 1], ones),
    ];
    const lanes = f.let(i32x4.add(first, second));
    const two = f.let(i32x4.add(lanes, shuffleLanes(lanes, lanes, [2, 3, 0, 1])));
    return f.let(i32x4.sub(i32x4.sub(NONE, two), shuffleLanes(two, two, [1, 0, 3, 2])));
  });
  const three = f.let(shuffleLanes(a, b, [0, 0, 4, 4]));
  const both = i32x4.add(a, b);
  return f.let(shuffleLanes(shuffleLanes(scale, three, [0, 5, 6, 7]), both, [0, 1, 2, 4]));
}

/** Below this magnitude a group counts as zero: the reciprocal would not be finite. */
const LEAST_PEAK = 1e-30;

/**
 * 1.5 * 2^23: a float has no bits behind the point there, so that adding it to a small number rounds
 * to the nearest integer, ties to even, which the lowest bits then are.
 */
const ROUNDING = 12582912;

const NONE = v128.const(new Uint8Array(16));

/**
 * The greatest magnitude of all lanes, in each of them. The bits of magnitudes are in the order of the
 * numbers, NaN last, and integers have one instruction for the greater of two, where floats take eight.
 */
function greatestMagnitude(f: FunctionBuilder, values: readonly V128[]): V128 {
  const peaks = f.let(values.map((value) => f32x4.abs(value)).reduce(i32x4.max_s));
  const halves = f.let(i32x4.max_s(peaks, shuffleLanes(peaks, peaks, [2, 3, 0, 1])));
  return i32x4.max_s(halves, shuffleLanes(halves, halves, [1, 0, 3, 2]));
}

/** The arguments of quantizing, as words in memory. */
export const QUANTIZE_ARGUMENTS = ["x", "narrow", "wide", "groups", "tokens"] as const;

/**
 * Adds `quantize(record, first, last)`, which quantizes rows `first` to `last` of x,
 * f32 [tokens, groups * 32], to narrow and wide groups, [groups, tokens]. A form is left out if its
 * address is zero. Products read the wide form if the machine needs it: words on machines without relaxed
 * SIMD and where V8 joins vectors, else magnitudes. Values are rounded to the nearest code, ties to
 * even. The scale of a group with a NaN is NaN.
 */
export function addQuantize(
  module: ModuleBuilder,
  work: Memory,
  machine: DotProduct,
  joins: boolean,
): void {
  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function("quantize", parameters, (f, { record, first, last }) => {
    const [base, narrowBase, wideBase, groups, tokens] = QUANTIZE_ARGUMENTS.map((_, i) =>
      f.let(work.i32.load(record, 4 * i))
    );
    const x = f.let(i32.add(base, i32.mul(i32.mul(first, groups), 4 * GROUP)));
    const rounding = f.let(f32x4.splat(f32.const(ROUNDING)));
    const ones = f.let(i16x8.splat(i32.const(1)));
    const token = f.let(first);
    f.forUpTo(token, last, 1, () => {
      const narrow = f.let(i32.add(narrowBase, i32.mul(token, activationBytes(false))));
      const wide = f.let(i32.add(wideBase, i32.mul(token, activationBytes(true))));
      const group = f.let(i32.const(0));
      f.forUpTo(group, groups, 1, () => {
        const values = Array.from({ length: 8 }, (_, i) => f.let(work.v128.load(x, 16 * i)));
        const peak = f.let(f32x4.extract_lane(greatestMagnitude(f, values), 0));
        const inverse = f.let(f32.const(0));
        f.if(f32.gt(peak, LEAST_PEAK), () => f.set(inverse, f32.div(MAXIMUM_CODE, peak)));
        const factor = f.let(f32x4.splat(inverse));
        const integers = values.map((value) =>
          i32x4.sub(f32x4.add(f32x4.mul(value, factor), rounding), rounding)
        );
        const words = [0, 2, 4, 6].map((i) =>
          f.let(i16x8.narrow_i32x4_s(integers[i], integers[i + 1]))
        );
        const codes = [0, 2].map((i) => f.let(i8x16.narrow_i16x8_s(words[i], words[i + 1])));
        const scale = f.let(f32x4.splat(f32.div(peak, MAXIMUM_CODE)));
        f.if(narrowBase, () => {
          codes.forEach((code, i) => f.do(work.v128.store(narrow, code, 16 * i)));
          f.do(work.v128.store(narrow, withSums(f, scale, words, ones), codeBytes(false)));
        });
        f.if(wideBase, () => {
          if (machine === "widened" || joins) {
            f.do(...words.map((word: V128, i) => work.v128.store(wide, word, 16 * i)));
            f.do(work.v128.store(wide, withSums(f, scale, words, ones), codeBytes(true)));
            return;
          }
          codes.forEach((code, i) =>
            f.do(
              work.v128.store(wide, i8x16.abs(code), 16 * i),
              work.v128.store(wide, i8x16.lt_s(code, NONE), GROUP + 16 * i),
            )
          );
          const negative = words.map((word) => i16x8.min_s(word, NONE));
          f.do(work.v128.store(wide, withSums(f, scale, negative, ones), codeBytes(true)));
        });
        f.increase(x, 4 * GROUP);
        f.increase(narrow, i32.mul(tokens, activationBytes(false)));
        f.increase(wide, i32.mul(tokens, activationBytes(true)));
      });
    });
  });
}
