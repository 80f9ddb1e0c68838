// Norms in WebAssembly: RMSNorm and LayerNorm of rows or of the vectors within them, and the norm of a
// recurrent layer's groups with its gate. One item is a vector.

import type { GatedNormGate } from "../../ops/recurrent.ts";
import { sigmoidTimes } from "../activate/kernel.ts";
import { addKernel, forItems } from "../kernel.ts";
import { clear, forFours, type Four, sumOfLanes } from "../vectors.ts";
import {
  type Expression,
  f32,
  f32x4,
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
  type ModuleBuilder,
  type V128,
  v128,
} from "../wasm/mod.ts";

const ZERO = v128.const(new Uint8Array(16));

/** Fours of a row that are summed apart. */
const PARTS = 4;

/** 1 / sqrt(squares / columns + epsilon), in all lanes. */
function scaleOf(
  f: FunctionBuilder,
  squares: Expression<"f32">,
  { columns, epsilon }: Record<"columns" | "epsilon", Local<"i32">>,
): Local<"v128"> {
  const mean = f32.div(squares, f32.convert_i32_s(columns));
  const variance = f32.add(mean, f32.reinterpret_i32(epsilon));
  return f.let(f32x4.splat(f32.div(1, f32.sqrt(variance))));
}

/**
 * The arguments of norms: `count` vectors of `columns` floats in each row. Strides are in bytes, and so is
 * `weightStep`, from the weights of a vector to those of the next. `sources`, `weight` and `bias` are 0
 * if there are none. `mean` 1: the mean is subtracted; `adds` 1: y += the result. Columns of y after a
 * vector, up to `padded`, become zero.
 */
export const NORM_ARGUMENTS = [
  ...["x", "xStride", "sources", "y", "yStride", "count", "columns", "padded"] as const,
  ...["weight", "weightStep", "bias", "epsilon", "mean", "adds"] as const,
] as const;

/** Adds `norm(record, first, last)`: vectors `first` to `last`, row after row. */
export function addNorm(module: ModuleBuilder, work: Memory): void {
  addKernel(
    module,
    work,
    { name: "norm", takes: NORM_ARGUMENTS },
    (f, given, first, last) =>
      forItems(f, first, last, (item) => {
        const { columns, weight, bias } = given;
        const row = f.let(i32.div_u(item, given.count));
        const vector = f.let(i32.rem_u(item, given.count));
        const byte = f.let(i32.mul(vector, i32.mul(columns, 4)));
        const to = f.let(i32.add(i32.add(given.y, i32.mul(row, given.yStride)), byte));
        f.if(given.sources, () => {
          f.set(row, work.i32.load(i32.add(given.sources, i32.mul(row, 4))));
        });
        const from = f.let(i32.add(i32.add(given.x, i32.mul(row, given.xStride)), byte));
        const weights = f.let(i32.add(weight, i32.mul(vector, given.weightStep)));
        const sum = f.let(ZERO);
        const mean = f.let(ZERO);
        f.if(given.mean, () => {
          forFours(f, work, columns, (four) => f.set(sum, f32x4.add(sum, four.load(from))));
          f.set(mean, f32x4.splat(f32.div(sumOfLanes(f, sum), f32.convert_i32_s(columns))));
        });
        const sums = Array.from({ length: PARTS }, () => f.let(ZERO));
        forFours(f, work, columns, (four, part) => {
          const centred = f.let(four.kept(f32x4.sub(four.load(from), mean)));
          f.set(sums[part]!, f32x4.add(sums[part]!, f32x4.mul(centred, centred)));
        }, PARTS);
        f.set(sum, sums.reduce<V128>(f32x4.add, ZERO));
        const scale = scaleOf(f, sumOfLanes(f, sum), given);
        const scaled = (four: Four) => f32x4.mul(f32x4.sub(four.load(from), mean), scale);
        const isPlain = i32.and(i32.ne(weight, 0), i32.eqz(i32.or(bias, given.adds)));
        f.if(
          isPlain,
          () =>
            forFours(f, work, columns, (four) => {
              four.store(to, f32x4.mul(scaled(four), four.load(weights)));
            }, PARTS),
          () =>
            forFours(f, work, columns, (four) => {
              const value = f.let(scaled(four));
              f.if(weight, () => f.set(value, f32x4.mul(value, four.load(weights))));
              f.if(bias, () => f.set(value, f32x4.add(value, four.load(bias))));
              f.if(given.adds, () => f.set(value, f32x4.add(value, four.load(to))));
              four.store(to, value);
            }),
        );
        const end = f.let(i32.add(to, i32.mul(given.padded, 4)));
        clear(f, work, i32.add(to, i32.mul(columns, 4)), end);
      }),
  );
}

/** The arguments of gated norms: `count` groups of `columns` floats in each row; strides in bytes. */
export const GATED_NORM_ARGUMENTS = [
  ...["x", "xStride", "z", "zStride", "y", "yStride", "count", "columns"] as const,
  ...["weight", "weightStep", "epsilon"] as const,
] as const;

/** Adds `gated_norm(record, first, last)`, with a gate or without. */
export function addGatedNorm(
  module: ModuleBuilder,
  work: Memory,
  gate: GatedNormGate["activation"] | undefined,
): void {
  const kernel = { name: "gated_norm", takes: GATED_NORM_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) =>
    forItems(f, first, last, (item) => {
      const { columns } = given;
      const row = f.let(i32.div_u(item, given.count));
      const group = f.let(i32.rem_u(item, given.count));
      const byte = f.let(i32.mul(group, i32.mul(columns, 4)));
      const vectorOf = (base: Local<"i32">, stride: Local<"i32">) =>
        f.let(i32.add(i32.add(base, i32.mul(row, stride)), byte));
      const from = vectorOf(given.x, given.xStride);
      const z = vectorOf(given.z, given.zStride);
      const to = vectorOf(given.y, given.yStride);
      const weights = f.let(i32.add(given.weight, i32.mul(group, given.weightStep)));
      const sum = f.let(ZERO);
      forFours(f, work, columns, (four) => {
        const value = f.let(four.load(from));
        f.set(sum, f32x4.add(sum, f32x4.mul(value, value)));
      });
      const scale = scaleOf(f, sumOfLanes(f, sum), given);
      forFours(f, work, columns, (four) => {
        const value = f.let(f32x4.mul(f32x4.mul(four.load(from), scale), four.load(weights)));
        if (gate) {
          const own = f.let(four.load(z));
          f.set(value, sigmoidTimes(f, gate === "silu" ? f32x4.mul(value, own) : value, own));
        }
        four.store(to, value);
      });
      f.if(i32.eq(i32.add(group, 1), given.count), () => {
        const after = f.let(i32.add(i32.add(given.y, i32.mul(row, given.yStride)), given.yStride));
        clear(f, work, i32.add(to, i32.mul(columns, 4)), after);
      });
    }));
}
