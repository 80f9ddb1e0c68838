// Products in plain TypeScript, of formats that have no kernels: rows as floats, one after the other.

import { type Activation, GROUP, isQuantized, type QuantizedRows } from "../../ops/activation.ts";
import { gateReference } from "../../ops/activation_function.ts";
import type { ExpertLinearOptions, Routing } from "../../ops/experts.ts";
import type { LinearOptions } from "../../ops/linear.ts";
import { activationBytes, codeBytes } from "../activations.ts";
import type { WeightMatrix } from "../matrix.ts";
import { cpu } from "../memory.ts";
import { floatsOf, type Quantizer, targetOf } from "./rows.ts";

/** See products.ts. */
export function plainLinear(
  device: Quantizer,
  matrix: WeightMatrix,
  x: Activation,
  y: Activation,
  { accumulate = false, first = 0, activation = "silu" }: LinearOptions,
) {
  matrix.keepBlocks();
  const value = valueOf(matrix, activation);
  return (rows: number) => {
    const floats = floatInput(x, x.stride, rows);
    const target = targetOf(device, y, rows);
    for (let r = 0; r < matrix.rows; r++) {
      for (let row = 0; row < rows; row++) {
        const at = row * target.stride + first + r;
        const result = value(floats, row * x.stride, r);
        target.floats[at] = accumulate ? target.floats[at] + result : result;
      }
    }
    target.finish(rows);
  };
}

/** See products.ts. */
export function plainExpertLinear(
  device: Quantizer,
  matrix: WeightMatrix,
  routing: Routing,
  x: Activation,
  y: Activation,
  { share, activation = "silu", vectors = 1 }: ExpertLinearOptions,
) {
  matrix.keepBlocks();
  const value = valueOf(matrix, activation);
  const ids = cpu(routing.ids).words;
  return (rows: number) => {
    const pairs = rows * routing.choices;
    const floats = floatInput(x, x.stride * vectors, Math.ceil(pairs / share / vectors));
    const target = targetOf(device, y, pairs);
    for (let pair = 0; pair < pairs; pair++) {
      const from = Math.floor(pair / share) * x.stride;
      for (let r = 0; r < matrix.unit; r++) {
        const row = ids[pair]! * matrix.unit + r;
        target.floats[pair * target.stride + r] = value(floats, from, row);
      }
    }
    target.finish(pairs);
  };
}

/** What computes one value of a product: row `row` of the matrix times x from a place on. */
function valueOf(matrix: WeightMatrix, activation: Required<LinearOptions>["activation"]) {
  const kept = new Map<number, { row: number; weights: Float32Array }>();
  const product = (x: Float32Array, from: number, row: number, side: number) => {
    let last = kept.get(side);
    if (last?.row !== row) kept.set(side, last = { row, weights: matrix.floatRow(row, side) });
    let sum = 0;
    for (let k = 0; k < matrix.columns; k++) sum += x[from + k]! * last.weights[k]!;
    const of = side * matrix.rows + row;
    const { affine } = matrix;
    return affine ? affine.scale[of]! * sum + affine.bias[of]! : sum;
  };
  return (x: Float32Array, from: number, row: number) => {
    const value = product(x, from, row, 0);
    return matrix.sides === 1 ? value : gateReference(activation, value, product(x, from, row, 1));
  };
}

/** All rows of x as floats. */
function floatInput(x: Activation, stride: number, rows: number): Float32Array {
  return isQuantized(x) ? dequantizeGroups(x, stride, rows) : floatsOf(x);
}

/** The values that int8 groups stand for: [rows, stride]. */
function dequantizeGroups({ groups }: QuantizedRows, stride: number, rows: number): Float32Array {
  const { bytes } = cpu(groups);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const values = new Float32Array(rows * stride);
  for (let row = 0; row < rows; row++) {
    for (let group = 0; group < stride / GROUP; group++) {
      const at = (group * rows + row) * activationBytes(false);
      const scale = view.getFloat32(at + codeBytes(false), true);
      const to = row * stride + group * GROUP;
      for (let i = 0; i < GROUP; i++) values[to + i] = scale * view.getInt8(at + i);
    }
  }
  return values;
}
