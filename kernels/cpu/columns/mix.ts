// Operations on the vectors within a row that few architectures have, in WebAssembly: weighted sums,
// lengths, and Gaussian top-k. One item is a row, or a vector of a row.

import type { Columns, MixOptions } from "../../ops/elementwise.ts";
import type { FloatRows } from "../../ops/activation.ts";
import { type CpuCore, floatBits } from "../core.ts";
import { keepCall } from "../kept_calls.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { workModule } from "../modules.ts";
import { forFours, sumOfLanes } from "../vectors.ts";
import { f32, f32x4, i32, type Memory, type ModuleBuilder } from "../wasm/mod.ts";
import { elementwise, layoutOf, widthOf, ZERO } from "./elementwise.ts";

const MIX_ARGUMENTS = [
  "weights",
  "weightStride",
  "x",
  "xStride",
  "xStep",
  "y",
  "yStride",
  "yStep",
  "columns",
  "bias",
] as const;

function addMix(
  module: ModuleBuilder,
  work: Memory,
  { inputs, outputs }: Pick<MixOptions, "inputs" | "outputs">,
): void {
  addKernel(
    module,
    work,
    { name: "mix", takes: MIX_ARGUMENTS },
    (f, given, first, last) =>
      forItems(f, first, last, (row) => {
        const weights = f.let(i32.add(given.weights, i32.mul(row, given.weightStride)));
        const x = f.let(i32.add(given.x, i32.mul(row, given.xStride)));
        const y = f.let(i32.add(given.y, i32.mul(row, given.yStride)));
        const bias = f.let(f32x4.splat(f32.reinterpret_i32(given.bias)));
        forFours(f, work, given.columns, (four) => {
          // All are read before any is written, because x may be y.
          const values = Array.from(
            { length: inputs },
            (_, j) => f.let(four.load(i32.add(x, i32.mul(given.xStep, j)))),
          );
          for (let output = 0; output < outputs; output++) {
            const to = f.let(i32.add(y, i32.mul(given.yStep, output)));
            const sum = f.let(ZERO);
            values.forEach((value, j) => {
              const weight = work.v128.load32_splat(weights, 4 * (output * inputs + j));
              f.set(sum, f32x4.add(sum, f32x4.mul(f32x4.add(weight, bias), value)));
            });
            four.store(to, f32x4.add(four.load(to), sum));
          }
        });
      }),
  );
}

/** Adds to each vector of y the sum of the vectors of x, with weights of the row. */
function mix(
  core: CpuCore,
  weights: FloatRows,
  x: Columns,
  y: Columns,
  { inputs, outputs, bias = 0 }: MixOptions,
) {
  const kernels = core.kernels(
    `mix ${inputs} ${outputs}`,
    () => workModule((module, work) => addMix(module, work, { inputs, outputs })),
  );
  const [from, to] = [layoutOf(x), layoutOf(y)];
  const words = inOrder(MIX_ARGUMENTS, {
    weights: cpu(weights.floats).address,
    weightStride: 4 * weights.stride,
    x: from.address,
    xStride: from.stride,
    xStep: from.step,
    y: to.address,
    yStride: to.stride,
    yStep: to.step,
    columns: widthOf(y),
    bias: floatBits(bias),
  });
  return keepCall(
    core,
    (rows: number) => ({ kernels, name: "mix", arguments: words, items: rows }),
  );
}

const MAGNITUDE_ARGUMENTS = [
  ...["x", "xStride", "y", "yStride", "yStep", "count", "columns"] as const,
] as const;

function addMatchMagnitude(module: ModuleBuilder, work: Memory): void {
  const kernel = { name: "match_magnitude", takes: MAGNITUDE_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) =>
    forItems(f, first, last, (item) => {
      const row = f.let(i32.div_u(item, given.count));
      const vector = f.let(i32.rem_u(item, given.count));
      const x = f.let(i32.add(given.x, i32.mul(row, given.xStride)));
      const y = f.let(
        i32.add(i32.add(given.y, i32.mul(row, given.yStride)), i32.mul(vector, given.yStep)),
      );
      const [wanted, own] = [x, y].map((vector) => {
        const squares = f.let(ZERO);
        forFours(f, work, given.columns, (four) => {
          const value = f.let(four.load(vector));
          f.set(squares, f32x4.add(squares, f32x4.mul(value, value)));
        });
        return f.let(sumOfLanes(f, squares));
      });
      const scale = f.let(f32.const(0));
      f.if(f32.ne(own, 0), () => f.set(scale, f32.sqrt(f32.div(wanted, own))));
      const scales = f.let(f32x4.splat(scale));
      forFours(f, work, given.columns, (four) => four.store(y, f32x4.mul(four.load(y), scales)));
    }));
}

/** Scales each vector of y to the L2 norm of the row's reference. */
function matchMagnitude(
  core: CpuCore,
  y: Columns,
  reference: Columns,
  { count = 1 }: { count?: number } = {},
) {
  const kernels = core.kernels("match magnitude", () => workModule(addMatchMagnitude));
  const [from, to] = [layoutOf(reference), layoutOf(y)];
  const words = inOrder(MAGNITUDE_ARGUMENTS, {
    x: from.address,
    xStride: from.stride,
    y: to.address,
    yStride: to.stride,
    yStep: to.step,
    count,
    columns: widthOf(y),
  });
  return keepCall(
    core,
    (rows: number) => ({ kernels, name: "match_magnitude", arguments: words, items: rows * count }),
  );
}

const SPARSIFY_ARGUMENTS = ["x", "stride", "columns", "factor"] as const;

function addSparsify(module: ModuleBuilder, work: Memory): void {
  const kernel = { name: "sparsify", takes: SPARSIFY_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) =>
    forItems(f, first, last, (row) => {
      const x = f.let(i32.add(given.x, i32.mul(row, given.stride)));
      const count = f.let(f32.convert_i32_s(given.columns));
      const sum = f.let(ZERO);
      forFours(f, work, given.columns, (four) => f.set(sum, f32x4.add(sum, four.load(x))));
      const mean = f.let(f32.div(sumOfLanes(f, sum), count));
      const means = f.let(f32x4.splat(mean));
      f.set(sum, ZERO);
      forFours(f, work, given.columns, (four) => {
        const centred = f.let(four.kept(f32x4.sub(four.load(x), means)));
        f.set(sum, f32x4.add(sum, f32x4.mul(centred, centred)));
      });
      const deviation = f32.sqrt(f32.div(sumOfLanes(f, sum), f32.sub(count, 1)));
      const factor = f32.reinterpret_i32(given.factor);
      const threshold = f.let(f32x4.splat(f32.add(mean, f32.mul(factor, deviation))));
      forFours(f, work, given.columns, (four) => {
        four.store(x, f32x4.max(f32x4.sub(four.load(x), threshold), ZERO));
      });
    }));
}

/** x = max(0, x - mean - factor * deviation) of each row. */
function sparsify(core: CpuCore, x: FloatRows, factor: number) {
  const kernels = core.kernels("sparsify", () => workModule(addSparsify));
  const words = inOrder(SPARSIFY_ARGUMENTS, {
    x: cpu(x.floats).address,
    stride: 4 * x.stride,
    columns: x.columns,
    factor: floatBits(factor),
  });
  return keepCall(
    core,
    (rows: number) => ({ kernels, name: "sparsify", arguments: words, items: rows }),
  );
}

/** What binds the operations on columns. */
export const columnKernels = { elementwise, mix, matchMagnitude, sparsify };
