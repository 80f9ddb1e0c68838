// Random numbers in WebAssembly, the same as in kernels/ops/sampling/reference.ts: Philox4x32-10
// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11) and Gumbel variates of its
// words, in doubles.

import { logarithm } from "../activate/kernel.ts";
import { type Expression, f64, type FunctionBuilder, i32, i64, type Local } from "../wasm/mod.ts";

/** A standard Gumbel variate of a random word. */
export function gumbel(f: FunctionBuilder, word: Expression<"i32">): Expression<"f64"> {
  const share = f64.mul(f64.add(f64.convert_i32_u(word), f64.const(0.5)), f64.const(2 ** -32));
  return f64.neg(logarithm(f, f64.neg(logarithm(f, share))));
}

/** The four random words of (position, number, and two constants), as ops/sampling/reference.ts has them. */
export function philox(
  f: FunctionBuilder,
  { position, number, low, high }: Record<"position" | "number" | "low" | "high", Local<"i32">>,
  [x, y, z, w]: readonly Local<"i32">[],
  [third, last]: readonly [number, number] = [0, 0],
): void {
  f.set(x, position);
  f.set(y, number);
  f.set(z, third);
  f.set(w, last);
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
