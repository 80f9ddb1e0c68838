// Dot products of int8 activations and codes, exact on every machine. WebAssembly's relaxed SIMD
// leaves open what i32x4.relaxed_dot_i8x16_i7x16_add_s does with codes of more than seven bits, so
// a probe tries it. It is a single instruction with VNNI or on ARM; other x86 machines use sums of
// 16 bits that saturate.

import { type FunctionBuilder, i16x8, i32x4, ModuleBuilder } from "./wasm/mod.ts";
import { type Local, shuffleLanes, type V128, v128 } from "./wasm/mod.ts";
import type { Quads } from "./formats/format.ts";

/**
 * How a machine multiplies bytes:
 * - "unsigned": four products at a time with codes of 0 to 255 (VNNI);
 * - "signed": four at a time with codes of -128 to 127 (ARM);
 * - "pairs": two at a time in 16 bits, with codes of 0 to 127 (SSSE3); wider ones by "magnitudes";
 * - "widened": as 16-bit integers, which plain SIMD has.
 */
export type DotProduct = "unsigned" | "signed" | "pairs" | "widened";

/**
 * How the codes of a format are multiplied. "magnitudes": |x| is the operand of seven bits, and w
 * is the signed one, with all its bits inverted where x is negative. That is -w - 1, so |x| has to
 * be added for each such code. "turned" is the same with x and w exchanged, for panels, in which
 * each |w| is made once for all tokens. "words": as 16-bit integers, two columns of a row side by side.
 */
export type DotKind = DotProduct | "magnitudes" | "turned" | "words";

/** The kind of dot product that this WebAssembly engine has, found by trying. */
export function probeDotProduct(): DotProduct {
  const splat = (value: number) => v128.const(new Uint8Array(16).fill(value));
  const module = new ModuleBuilder();
  const zero = splat(0);
  for (const [name, code] of [["low", 127], ["high", 255]] as const) {
    module.function(name, {}, () =>
      i32x4.extract_lane(
        i32x4.relaxed_dot_i8x16_i7x16_add_s(splat(-127), splat(code), zero),
        0,
      ));
  }
  const bytes = module.bytes();
  if (!WebAssembly.validate(bytes)) return "widened";
  const { low, high } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  const call = (run: WebAssembly.ExportValue) => (run as () => number)();
  if (call(low) !== 4 * -127 * 127) return "widened";
  const result = call(high);
  return result === 4 * -127 * 255 ? "unsigned" : result === 4 * 127 ? "signed" : "pairs";
}

/** The largest magnitude of an activation's code. */
export const MAXIMUM_CODE = 127;

/**
 * The initial value of a panel's sums of a group: 1.5 * 2^23 as a float, whose lowest bits are whole numbers.
 * What is added to these bits as integers makes a float that is only this much too great, exactly below 2^22
 * (32 products have at most 20 bits). CPUs convert integers where they multiply, and subtract elsewhere, too.
 */
export const SUM_BIAS = 2 ** 23 + 2 ** 22;

/** How the codes of a format are multiplied on a machine. */
export interface DotMethod {
  readonly kind: DotKind;
  /** Whether codes are made signed first, by subtracting their offset. */
  readonly isSigned: boolean;
  /**
   * Whether activations are read in their second form: as 16-bit codes, or as magnitudes and signs.
   */
  readonly isWide: boolean;
  /**
   * Whether the machine has relaxed SIMD, and so a multiplication and addition in one instruction.
   */
  readonly isRelaxed: boolean;
  /** Number of steps whose sums of pairs fit 16 bits ("pairs"). */
  readonly run: number;
}

/**
 * The method for codes from 0 to `maximum`. `wide` is the method for codes that are too wide for
 * pairs.
 */
export function dotMethodOf(
  machine: DotProduct,
  maximum: number,
  wide: "magnitudes" | "turned" | "words" = "magnitudes",
): DotMethod {
  const run = Math.floor(32767 / (2 * MAXIMUM_CODE * maximum));
  const kind = machine === "pairs" && run === 0 ? wide : machine;
  const isSigned = kind === "magnitudes" || kind === "turned" ||
    (kind === "signed" && maximum > 127);
  const isWide = kind === "widened" || kind === "words" || kind === "magnitudes";
  return { kind, isSigned, isWide, isRelaxed: machine !== "widened", run };
}

/** The operands of sums of products: some tokens by the rows of a band. */
export interface DotOperands {
  readonly tokens: readonly Activations[];
  /** Steps of the group, from `first` up to `end`. */
  readonly first: number;
  readonly end: number;
  /** Codes of a step as bytes or, of "words" and of panels of "widened", of a pair of columns. */
  load(step: number): Quads;
  /** The signs of a step's magnitudes ("turned"), as bytes: 255 where a code is negative, or 0. */
  signs?(step: number): Quads;
  /** Initial values of a token's sums. */
  start(token: number): Quads;
}

/**
 * The activations of a token in a group: codes of a step, or of a pair of columns if they are wide.
 */
export interface Activations {
  /** The four bytes of a step in every lane; for "magnitudes", the magnitudes. */
  step(step: number): V128;
  /** The signs of a step's magnitudes, as bytes: 255 where x is negative, or 0. */
  signs(step: number): V128;
  /** The two 16-bit codes of a pair in every lane. */
  pair(pair: number): V128;
  /** The four 16-bit codes of a step, twice. */
  wideStep(step: number): V128;
}

/** Sums over the steps, [token][quad]. A vector has four rows. */
export function sumDots(
  f: FunctionBuilder,
  method: DotMethod,
  operands: DotOperands,
  ones: V128,
): V128[][] {
  switch (method.kind) {
    case "unsigned":
    case "signed":
      return sumFours(f, operands);
    case "pairs":
      return sumPairs(f, operands, method.run, ones);
    case "magnitudes":
      return sumMagnitudes(f, operands, ones);
    case "turned":
      return sumTurned(f, operands, ones);
    case "words":
      return sumWidePairs(f, operands);
    case "widened":
      return sumWidened(f, operands);
  }
}

function sumFours(f: FunctionBuilder, operands: DotOperands): V128[][] {
  const { tokens, first, end, load, start } = operands;
  const sums = startSums(f, tokens.length, start);
  for (let step = first; step < end; step++) {
    const codes = load(step);
    tokens.forEach((token, t) => {
      const x = f.let(token.step(step));
      sums[t].forEach((sum, quad) =>
        f.set(sum, i32x4.relaxed_dot_i8x16_i7x16_add_s(x, codes[quad], sum))
      );
    });
  }
  return sums;
}

/** Initial values of each token's two sums, for the two quads. */
function startSums(f: FunctionBuilder, tokens: number, start: (token: number) => Quads) {
  return Array.from({ length: tokens }, (_, t) => start(t).map((sum) => f.let(sum)));
}

/** Sums of 16 bits over a run of steps, two in each row's lane, then added in 32 bits. */
function sumPairs(
  f: FunctionBuilder,
  { tokens, first, end, load, start }: DotOperands,
  run: number,
  ones: V128,
): V128[][] {
  let sums: Local<"v128">[][] | undefined;
  let totals: Local<"v128">[][] | undefined;
  for (let step = first; step < end; step++) {
    const isFirst = (step - first) % run === 0;
    const isLast = step === end - 1 || (step - first) % run === run - 1;
    const codes = load(step);
    const added = sums ??= tokens.map(() => codes.map(() => f.local("v128")));
    tokens.forEach((token, t) => {
      const x = f.let(token.step(step));
      added[t].forEach((sum, quad) => {
        const pairs = i16x8.relaxed_dot_i8x16_i7x16_s(x, codes[quad]);
        f.set(sum, isFirst ? pairs : i16x8.add(sum, pairs));
      });
    });
    if (!isLast) continue;
    totals ??= startSums(f, tokens.length, start);
    totals.forEach((of, t) =>
      of.forEach((total, quad) =>
        f.set(total, i32x4.add(total, i32x4.dot_i16x8_s(added[t][quad], ones)))
      )
    );
  }
  return totals!;
}

/** Pairs of products with |x| fit 16 bits, but sums of several pairs do not. */
function sumMagnitudes(f: FunctionBuilder, operands: DotOperands, ones: V128): V128[][] {
  const { tokens, first, end, load, start } = operands;
  const sums = startSums(f, tokens.length, start);
  for (let step = first; step < end; step++) {
    const codes = load(step);
    tokens.forEach((token, t) => {
      const magnitudes = f.let(token.step(step));
      const signs = f.let(token.signs(step));
      sums[t].forEach((sum, quad) => {
        const signed = v128.xor(codes[quad], signs);
        const pairs = i16x8.relaxed_dot_i8x16_i7x16_s(signed, magnitudes);
        f.set(sum, i32x4.add(sum, i32x4.dot_i16x8_s(pairs, ones)));
      });
    });
  }
  return sums;
}

/** Pairs of products with |w| fit 16 bits, but sums of several pairs do not. */
function sumTurned(f: FunctionBuilder, operands: DotOperands, ones: V128): V128[][] {
  const { tokens, first, end, load, signs, start } = operands;
  const sums = startSums(f, tokens.length, start);
  for (let step = first; step < end; step++) {
    const magnitudes = load(step);
    const negative = signs!(step);
    tokens.forEach((token, t) => {
      const x = f.let(token.step(step));
      sums[t].forEach((sum, quad) => {
        const signed = v128.xor(x, negative[quad]);
        const pairs = i16x8.relaxed_dot_i8x16_i7x16_s(signed, magnitudes[quad]);
        f.set(sum, i32x4.add(sum, i32x4.dot_i16x8_s(pairs, ones)));
      });
    });
  }
  return sums;
}

/**
 * Adds the magnitudes of negative codes, in pairs of 16 bits. @param signs -1 where a code is negative,
 * else 0
 */
export function addNegatives(
  f: FunctionBuilder,
  sum: Local<"v128">,
  signs: V128,
  magnitudes: V128,
): void {
  f.set(sum, i16x8.sub(sum, i16x8.relaxed_dot_i8x16_i7x16_s(signs, magnitudes)));
}

/**
 * Codes of a band's steps as 16-bit integers. Until the end, each sum is in two vectors of two
 * rows.
 */
function sumWidened(
  f: FunctionBuilder,
  { tokens, first, end, load, start }: DotOperands,
): V128[][] {
  let sums: Local<"v128">[][] | undefined;
  for (let step = first; step < end; step++) {
    const codes = load(step).flatMap((quad) => [
      f.let(i16x8.extend_low_i8x16_u(quad)),
      f.let(i16x8.extend_high_i8x16_u(quad)),
    ]);
    const added = sums ??= tokens.map(() => codes.map(() => f.let(ZERO)));
    tokens.forEach((token, t) => {
      const x = f.let(token.wideStep(step));
      added[t].forEach((sum, i) => f.set(sum, i32x4.add(sum, i32x4.dot_i16x8_s(codes[i], x))));
    });
  }
  return sums!.map((of, t) =>
    start(t).map((first, quad) => {
      const [low, high] = of.slice(2 * quad);
      const halves = i32x4.add(
        shuffleLanes(low, high, [0, 2, 4, 6]),
        shuffleLanes(low, high, [1, 3, 5, 7]),
      );
      return i32x4.add(halves, first);
    })
  );
}

/** Sums over pairs of columns whose 16-bit codes are side by side, as in panels of wide codes. */
export function sumWidePairs(f: FunctionBuilder, operands: DotOperands): V128[][] {
  const { tokens, first, end, load, start } = operands;
  const sums = startSums(f, tokens.length, start);
  for (let pair = 2 * first; pair < 2 * end; pair++) {
    const codes = load(pair);
    tokens.forEach((token, t) => {
      const x = f.let(token.pair(pair));
      sums[t].forEach((sum, quad) => f.set(sum, i32x4.add(sum, i32x4.dot_i16x8_s(codes[quad], x))));
    });
  }
  return sums;
}

/** The two pairs of columns of a step, four rows each, as 16-bit integers. */
export function widenPairs(f: FunctionBuilder, quad: V128): V128[] {
  const low = f.let(i16x8.extend_low_i8x16_u(quad));
  const high = f.let(i16x8.extend_high_i8x16_u(quad));
  return [shuffleLanes(low, high, [0, 2, 4, 6]), shuffleLanes(low, high, [1, 3, 5, 7])];
}

const ZERO = v128.const(new Uint8Array(16));

/** The lanes times an integer, by a shift if it is a power of two. */
export function times(vector: V128, factor: number): V128 {
  if (factor === 0) return ZERO;
  const log = Math.log2(factor);
  return Number.isInteger(log) ? i32x4.shl(vector, log) : i32x4.mul(vector, i32x4.splat(factor));
}
