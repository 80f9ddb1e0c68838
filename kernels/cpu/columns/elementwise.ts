// What operations on the vectors of rows share.

import type { Columns, ElementwiseOperation, ElementwiseOptions } from "../../ops/elementwise.ts";
import { activate, exponential, sigmoidTimes } from "../activate/kernel.ts";
import { type CpuCore, floatBits } from "../core.ts";
import { keepCall } from "../kept_calls.ts";
import { lanes } from "../formats/scales.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { workModule } from "../modules.ts";
import { forFours } from "../vectors.ts";
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
} from "../wasm/mod.ts";

/** Four zeros. */
export const ZERO = v128.const(new Uint8Array(16));

/** The arguments for columns: the address of the first vector; strides of rows and vectors in bytes. */
export function layoutOf({ rows, first = 0, step = 0 }: Columns) {
  return { address: cpu(rows.floats).address + 4 * first, stride: 4 * rows.stride, step: 4 * step };
}

/** Columns of a vector. */
export function widthOf({ rows, first = 0, columns }: Columns): number {
  return columns ?? rows.columns - first;
}

// Elementwise operations in WebAssembly. One item is a vector of a row.

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
    case "weigh":
      return v128.andnot(f32x4.mul(y, x), f32x4.eq(x, ZERO));
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
  const to = layoutOf(y);
  const nothing = { address: 0, stride: 0, step: 0 };
  const from = x ? layoutOf(x) : nothing;
  const factors = gate ? layoutOf(gate) : nothing;
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
  return keepCall(
    core,
    (rows: number) => ({ kernels, name: "elementwise", arguments: words, items: rows * count }),
  );
}
