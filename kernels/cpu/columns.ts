// Small operations on the vectors of rows in WebAssembly: elementwise ones, weighted sums, lengths,
// and Gaussian top-k. One item is a row, or a vector of a row.

import type { Columns, ElementwiseOperation, ElementwiseOptions } from "../ops/elementwise.ts";
import type { FloatRows } from "../ops/activation.ts";
import type { MixOptions } from "../ops/mix.ts";
import { type CpuCore, floatBits } from "./core.ts";
import { activate, exponential, sigmoidTimes } from "./elementwise.ts";
import { lanes } from "./formats/scales.ts";
import { addKernel, forItems, inOrder } from "./kernel.ts";
import { cpu } from "./memory.ts";
import { workModule } from "./modules.ts";
import { forFours, sumOfLanes } from "./vectors.ts";
import {
  f32,
  f32x4,
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
  type ModuleBuilder,
  type V128,
  v128,
} from "./wasm/mod.ts";

const ZERO = v128.const(new Uint8Array(16));

/** The arguments for columns: the address of the first vector; strides of rows and vectors in bytes. */
function placeOf({ rows, first = 0, step = 0 }: Columns) {
  return { address: cpu(rows.floats).address + 4 * first, stride: 4 * rows.stride, step: 4 * step };
}

function widthOf({ rows, first = 0, columns }: Columns): number {
  return columns ?? rows.columns - first;
}

const ELEMENTWISE_ARGUMENTS = [
  "x",
  "xStride",
  "xStep",
  "y",
  "yStride",
  "yStep",
  "count",
  "columns",
  "factor",
  "gate",
  "gateStride",
] as const;

/** Computes elementwiseReference(), four lanes at a time. */
function operate(
  f: FunctionBuilder,
  operation: ElementwiseOperation,
  y: Local<"v128">,
  x: Local<"v128">,
  factor: Local<"v128">,
): V128 {
  switch (operation) {
    case "copy":
      return f32x4.mul(x, factor);
    case "add":
      return f32x4.add(y, f32x4.mul(x, factor));
    case "multiply":
      return f32x4.mul(y, x);
    case "scale":
      return f32x4.mul(y, factor);
    case "sigmoid_gate":
      return sigmoidTimes(f, y, x);
    case "gelu_gate":
      return f32x4.mul(activate(f, "gelu", y), x);
    case "softcap": {
      // tanh(u) = 1 - 2 / (e^2u + 1).
      const two = lanes(f, Float32Array.of(2));
      const one = lanes(f, Float32Array.of(1));
      const power = exponential(f, f.let(f32x4.div(f32x4.mul(y, two), factor)));
      return f32x4.mul(factor, f32x4.sub(one, f32x4.div(two, f32x4.add(power, one))));
    }
    case "at_least":
      return f32x4.max(y, factor);
    case "at_most":
      return f32x4.min(y, factor);
  }
}

function addElementwise(
  module: ModuleBuilder,
  work: Memory,
  { operation, repeat, hasX, isGated }: {
    operation: ElementwiseOperation;
    repeat: number;
    hasX: boolean;
    isGated: boolean;
  },
): void {
  const kernel = { name: "elementwise", takes: ELEMENTWISE_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) => {
    const factor = f.let(f32x4.splat(f32.reinterpret_i32(given.factor)));
    forItems(f, first, last, (item) => {
      const row = f.let(i32.div_u(item, given.count));
      const vector = f.let(i32.rem_u(item, given.count));
      const vectorOf = (base: Local<"i32">, stride: Local<"i32">, step: Local<"i32">) =>
        f.let(i32.add(i32.add(base, i32.mul(row, stride)), i32.mul(vector, step)));
      const to = vectorOf(given.y, given.yStride, given.yStep);
      const from = vectorOf(given.x, given.xStride, given.xStep);
      const gateAt = i32.add(given.gate, i32.mul(row, given.gateStride));
      const gate = isGated ? f.let(work.v128.load32_splat(gateAt)) : undefined;
      forFours(f, work, given.columns, (four) => {
        const x = f.let(ZERO);
        if (hasX && repeat === 1) f.set(x, four.load(from));
        for (let lane = 0; hasX && repeat > 1 && lane < 4; lane++) {
          const column = i32.div_u(i32.add(i32.shr_u(four.at, 2), lane), repeat);
          f.set(x, work.v128.load32_lane(i32.add(from, i32.mul(column, 4)), x, lane));
        }
        if (gate) f.set(x, sigmoidTimes(f, x, gate));
        const y = f.let(four.load(to));
        four.store(to, operate(f, operation, y, x, factor));
      });
    });
  });
}

/** A small operation on columns of y in place. */
export function elementwise(
  core: CpuCore,
  operation: ElementwiseOperation,
  y: Columns,
  { count = 1, x, broadcast = false, repeat = 1, gate, factor = 1 }: ElementwiseOptions = {},
) {
  const shape = { operation, repeat, hasX: x !== undefined, isGated: gate !== undefined };
  const kernels = core.kernels(
    `elementwise ${Object.values(shape)}`,
    () => workModule((module, work) => addElementwise(module, work, shape)),
  );
  const to = placeOf(y);
  const nothing = { address: 0, stride: 0, step: 0 };
  const from = x ? placeOf(x) : nothing;
  const factors = gate ? placeOf(gate) : nothing;
  const words = inOrder(ELEMENTWISE_ARGUMENTS, {
    x: from.address,
    xStride: broadcast ? 0 : from.stride,
    xStep: from.step,
    y: to.address,
    yStride: to.stride,
    yStep: to.step,
    count,
    columns: widthOf(y),
    factor: floatBits(factor),
    gate: factors.address,
    gateStride: factors.stride,
  });
  return (rows: number) =>
    core.run([{ kernels, name: "elementwise", arguments: words, items: rows * count }]);
}

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
export function mix(
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
  const [from, to] = [placeOf(x), placeOf(y)];
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
  return (rows: number) => core.run([{ kernels, name: "mix", arguments: words, items: rows }]);
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
export function matchMagnitude(
  core: CpuCore,
  y: Columns,
  reference: Columns,
  { count = 1 }: { count?: number } = {},
) {
  const kernels = core.kernels("match magnitude", () => workModule(addMatchMagnitude));
  const [from, to] = [placeOf(reference), placeOf(y)];
  const words = inOrder(MAGNITUDE_ARGUMENTS, {
    x: from.address,
    xStride: from.stride,
    y: to.address,
    yStride: to.stride,
    yStep: to.step,
    count,
    columns: widthOf(y),
  });
  return (rows: number) =>
    core.run([{ kernels, name: "match_magnitude", arguments: words, items: rows * count }]);
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
export function sparsify(core: CpuCore, x: FloatRows, factor: number) {
  const kernels = core.kernels("sparsify", () => workModule(addSparsify));
  const words = inOrder(SPARSIFY_ARGUMENTS, {
    x: cpu(x.floats).address,
    stride: 4 * x.stride,
    columns: x.columns,
    factor: floatBits(factor),
  });
  return (rows: number) => core.run([{ kernels, name: "sparsify", arguments: words, items: rows }]);
}
