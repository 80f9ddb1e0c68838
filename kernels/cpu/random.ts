// Random numbers in WebAssembly, as kernels/ops/sampling/philox.ts has them: Philox4x32-10 (Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC11) and Gumbel variates of its words, in doubles.

import { type Expression, f64, type FunctionBuilder, i32, i64, type Local } from "./wasm/mod.ts";

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

/** A standard Gumbel variate of a random word. */
export function gumbel(f: FunctionBuilder, word: Expression<"i32">): Expression<"f64"> {
  const share = f64.mul(f64.add(f64.convert_i32_u(word), f64.const(0.5)), f64.const(2 ** -32));
  return f64.neg(logarithm(f, f64.neg(logarithm(f, share))));
}

/** The four random words of (position, number, 0, 0), as ops/sampling/philox.ts has them. */
export function philox(
  f: FunctionBuilder,
  { position, number, low, high }: Record<"position" | "number" | "low" | "high", Local<"i32">>,
  [x, y, z, w]: readonly Local<"i32">[],
): void {
  f.set(x, position);
  f.set(y, number);
  f.set(z, 0);
  f.set(w, 0);
  const keys = [f.let(low), f.let(high)];
  const round = f.let(i32.const(0));
  const product = (word: Local<"i32">, factor: number) =>
    f.let(i64.mul(i64.extend_i32_u(word), i64.const(factor)));
  const upper = (product: Local<"i64">) => i32.wrap_i64(i64.shr_u(product, i64.const(32)));
  f.forUpTo(round, 10, 1, () => {
    const [ofX, ofZ] = [product(x, 0xd2511f53), product(z, 0xcd9e8d57)];
    const second = f.let(y);
    const fourth = f.let(w);
    f.set(x, i32.xor(i32.xor(upper(ofZ), second), keys[0]));
    f.set(y, i32.wrap_i64(ofZ));
    f.set(z, i32.xor(i32.xor(upper(ofX), fourth), keys[1]));
    f.set(w, i32.wrap_i64(ofX));
    f.increase(keys[0], 0x9e3779b9);
    f.increase(keys[1], 0xbb67ae85);
  });
}
