// The activation functions of feed-forward blocks, and the exponential and the logarithm that kernels
// need: by range reduction and a polynomial or a series, to two units in the last place (Cephes, expf).

import {
  type Expression,
  f32x4,
  f64,
  type FunctionBuilder,
  i32,
  i32x4,
  i64,
  type Memory,
  type ModuleBuilder,
  type V128,
  v128,
} from "../wasm/mod.ts";
import { lanes } from "../formats/scales.ts";
import { addKernel, forItems } from "../kernel.ts";
import { forFours } from "../vectors.ts";
import type { ActivationFunction } from "../../ops/activation.ts";

/** A float in all lanes. */
function constant(f: FunctionBuilder, value: number): V128 {
  return lanes(f, Float32Array.of(value));
}

/** Logarithms below which the exponential is no normal number, and above which it is infinite. */
const [LEAST_LOG, GREATEST_LOG] = [-87.3, 88.8];
const LN2_HIGH = 0.693359375;
const LN2_LOW = -2.12194440e-4;
/** Coefficients of (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, the highest power first. */
const POLYNOMIAL = [
  ...[1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3],
  ...[4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1],
];

/** Coefficients of erfc(x) exp(x^2) as a polynomial of 1 / (1 + 0.3275911 x), the highest power first. */
const TAIL = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];

/** Tails below are zero. */
const LEAST_TAIL = 1e-30;

/** 2^23 + 2^22: a float to which it is added is rounded to an integer, which is in the sum's low bits. */
const ROUNDING = 2 ** 23 + 2 ** 22;

/** a * b + c, rounded once or twice. */
export type Madd = (a: V128, b: V128, c: V128) => V128;

const mulAdd: Madd = (a, b, c) => f32x4.add(f32x4.mul(a, b), c);

/** e to the power of each lane: at least 1e-38, infinite from 88.4 on, NaN of NaN. */
export function exponential(f: FunctionBuilder, x: V128, madd = mulAdd): V128 {
  const bounded = f.let(
    f32x4.pmin(f32x4.pmax(x, constant(f, LEAST_LOG)), constant(f, GREATEST_LOG)),
  );
  const rounded = f.let(madd(bounded, constant(f, Math.LOG2E), constant(f, ROUNDING)));
  const powers = f.let(f32x4.sub(rounded, constant(f, ROUNDING)));
  const high = madd(powers, constant(f, -LN2_HIGH), bounded);
  const rest = f.let(madd(powers, constant(f, -LN2_LOW), high));
  const [first, ...others] = POLYNOMIAL.map((factor) => constant(f, factor));
  const sum = others.reduce((sum, factor) => madd(sum, rest, factor), first);
  const mantissa = f32x4.add(madd(f32x4.mul(sum, rest), rest, rest), constant(f, 1));
  const exponent = i32x4.add(rounded, lanes(f, Uint32Array.of(127)));
  return f32x4.mul(mantissa, i32x4.shl(exponent, 23));
}

/** The natural logarithm of a normal double above zero, to about two units in the last place. */
export function logarithm(f: FunctionBuilder, x: Expression<"f64">): Expression<"f64"> {
  const bits = f.let(i64.reinterpret_f64(x));
  const exponent = f.let(i32.sub(i32.wrap_i64(i64.shr_u(bits, i64.const(52))), 1023));
  const fraction = i64.and(bits, i64.const((1n << 52n) - 1n));
  const one = i64.const(1023n << 52n);
  const mantissa = f.let(f64.reinterpret_i64(i64.or(fraction, one)));
  f.if(f64.gt(mantissa, f64.const(Math.SQRT2)), () => {
    f.set(mantissa, f64.mul(mantissa, f64.const(0.5)));
    f.increase(exponent, 1);
  });
  // ln(m) = 2 artanh(s) with s = (m - 1) / (m + 1), at most 0.172.
  const s = f.let(
    f64.div(f64.sub(mantissa, f64.const(1)), f64.add(mantissa, f64.const(1))),
  );
  const square = f.let(f64.mul(s, s));
  const series = [21, 19, 17, 15, 13, 11, 9, 7, 5, 3].reduce<Expression<"f64">>(
    (sum, n) => f64.add(f64.mul(sum, square), f64.const(1 / n)),
    f64.const(1 / 23),
  );
  const rest = f64.mul(f64.mul(s, square), series);
  const own = f64.mul(f64.const(2), f64.add(s, rest));
  return f.let(f64.add(own, f64.mul(f64.convert_i32_s(exponent), f64.const(Math.LN2))));
}

/** x / (1 + exp(-z)). */
export function sigmoidTimes(f: FunctionBuilder, x: V128, z: V128): V128 {
  return f32x4.div(x, f32x4.add(constant(f, 1), exponential(f, f32x4.neg(z))));
}

/** An activation function of each lane, as activateReference() defines it. */
export function activate(f: FunctionBuilder, name: ActivationFunction, x: V128): V128 {
  const zero = constant(f, 0);
  switch (name) {
    case "silu":
      return sigmoidTimes(f, x, x);
    case "gelu": {
      const cubic = f32x4.mul(f32x4.mul(f32x4.mul(x, x), x), constant(f, 0.044715));
      const slope = constant(f, 2 * Math.sqrt(2 / Math.PI));
      return sigmoidTimes(f, x, f32x4.mul(f32x4.add(x, cubic), slope));
    }
    case "gelu_erf": {
      // The normal distribution's tail beyond |x| (Abramowitz and Stegun 1964, 7.1.26), to 1e-7.
      const own = f.let(x);
      const one = constant(f, 1);
      const distance = f32x4.mul(f32x4.abs(own), constant(f, 0.3275911 / Math.SQRT2));
      const t = f.let(f32x4.div(one, f32x4.add(one, distance)));
      const [first, ...others] = TAIL.map((factor) => constant(f, factor));
      const sum = others.reduce((sum, factor) => f32x4.add(f32x4.mul(sum, t), factor), first);
      const bell = exponential(f, f32x4.mul(f32x4.mul(own, own), constant(f, -0.5)));
      const exact = f.let(f32x4.mul(f32x4.mul(f32x4.mul(sum, t), bell), constant(f, 0.5)));
      // Products of denormal numbers, as they are far out, take a hundred times as long.
      const tail = f.let(v128.and(exact, f32x4.gt(exact, constant(f, LEAST_TAIL))));
      const isBelow = f32x4.lt(own, zero);
      return f32x4.mul(own, v128.bitselect(tail, f32x4.sub(one, tail), isBelow));
    }
    case "quick_gelu":
      return sigmoidTimes(f, x, f32x4.mul(x, constant(f, 1.702)));
    case "relu":
      return f32x4.max(x, zero);
    case "relu_squared": {
      const positive = f.let(f32x4.max(x, zero));
      return f32x4.mul(positive, positive);
    }
    case "clamped_swish": {
      const least = f.let(f32x4.min(x, constant(f, 7)));
      return sigmoidTimes(f, least, f32x4.mul(least, constant(f, 1.702)));
    }
  }
}

/**
 * The arguments of activation: rows of `columns` floats; `up` is in the same rows as x, and 0 if there is
 * none; with `accumulate` 1 (not 0), y += the result. Strides are in bytes.
 */
export const ACTIVATE_ARGUMENTS = [
  ...["x", "up", "xStride", "y", "yStride", "columns", "accumulate"] as const,
] as const;

/** Adds `activate_<name>(record, first, last)`: y = f(x), or y = f(x) * up as gateReference() has it. */
export function addActivate(module: ModuleBuilder, work: Memory, name: ActivationFunction): void {
  const kernel = { name: `activate_${name}`, takes: ACTIVATE_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) => {
    const adds = f.let(i32x4.splat(i32.sub(0, given.accumulate)));
    forItems(f, first, last, (row) => {
      const offset = f.let(i32.mul(row, given.xStride));
      const x = f.let(i32.add(given.x, offset));
      const up = f.let(i32.add(given.up, offset));
      const y = f.let(i32.add(given.y, i32.mul(row, given.yStride)));
      forFours(f, work, given.columns, (four) => {
        const value = f.let(activate(f, name, f.let(four.load(x))));
        f.if(given.up, () => {
          const factor = four.load(up);
          const clamped = () =>
            f32x4.add(
              f32x4.max(f32x4.min(factor, constant(f, 7)), constant(f, -7)),
              constant(f, 1),
            );
          f.set(value, f32x4.mul(value, name === "clamped_swish" ? clamped() : factor));
        });
        four.store(y, f32x4.add(value, v128.and(four.load(y), adds)));
      });
    });
  });
}
