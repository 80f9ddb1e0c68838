// Operations on the vectors of rows in plain TypeScript: norms, activations, elementwise ones, mixes.
// Their meaning is told in ops/, each under the same name.

import type { Activation, FloatRows } from "../../ops/activation.ts";
import {
  type ActivateOptions,
  activateReference,
  gateReference,
} from "../../ops/activation_function.ts";
import {
  type Columns,
  type ElementwiseOperation,
  type ElementwiseOptions,
  elementwiseReference,
} from "../../ops/elementwise.ts";
import { type MixOptions, sparsifyReference } from "../../ops/mix.ts";
import type { Norm, NormOptions } from "../../ops/norm.ts";
import type { ColumnRange, GatedNormOptions } from "../../ops/recurrent/mod.ts";
import { sigmoid } from "../../ops/recurrent/segments.ts";
import { cpu } from "../memory.ts";
import { floatsOf, type Quantizer, targetOf } from "./rows.ts";

/** y = norm(x), or y += norm(x). */
export function norm(
  device: Quantizer,
  x: FloatRows,
  y: Activation,
  { kind, epsilon, weight, bias, weightPerVector = false }: Norm,
  { source, vectors, accumulate = false }: NormOptions,
) {
  const from = floatsOf(x);
  const sources = source && cpu(source).words;
  const weights = weight && cpu(weight).floats;
  const biases = bias && cpu(bias).floats;
  const { first = 0, count = 1, columns = x.columns } = vectors ?? {};
  return (rows: number) => {
    const { floats: to, stride, finish } = targetOf(device, y, rows);
    for (let row = 0; row < rows; row++) {
      const fromRow = (sources ? sources[row] : row) * x.stride + first;
      for (let v = 0; v < count; v++) {
        const at = fromRow + v * columns;
        const out = row * stride + first + v * columns;
        const own = weightPerVector ? v * columns : 0;
        let mean = 0;
        if (kind === "layer") {
          for (let k = 0; k < columns; k++) mean += from[at + k];
          mean /= columns;
        }
        let squares = 0;
        for (let k = 0; k < columns; k++) squares += (from[at + k] - mean) ** 2;
        const scale = 1 / Math.sqrt(squares / columns + epsilon);
        for (let k = 0; k < columns; k++) {
          let value = (from[at + k] - mean) * scale;
          if (weights) value *= weights[own + k];
          if (biases) value += biases[k];
          to[out + k] = accumulate ? to[out + k] + value : value;
        }
      }
    }
    finish(rows);
  };
}

/** y = f(x), or f(gate) * up of the halves of each row of x. */
export function activate(
  device: Quantizer,
  x: FloatRows,
  y: Activation,
  { activation, gated }: ActivateOptions,
) {
  const from = floatsOf(x);
  return (rows: number) => {
    const { floats: to, stride, finish } = targetOf(device, y, rows);
    for (let row = 0; row < rows; row++) {
      const at = row * x.stride; // gate and up are each as wide as a row of y
      for (let k = 0; k < y.columns; k++) {
        to[row * stride + k] = gated
          ? gateReference(activation, from[at + k], from[at + y.stride + k])
          : activateReference(activation, from[at + k]);
      }
    }
    finish(rows);
  };
}

/** A small operation on columns of y in place. */
export function elementwise(
  operation: ElementwiseOperation,
  y: Columns,
  { count = 1, x, broadcast = false, repeat = 1, factor = 1 }: ElementwiseOptions,
) {
  const to = floatsOf(y.rows);
  const from = x ? floatsOf(x.rows) : to;
  const first = y.first ?? 0;
  const columns = y.columns ?? y.rows.columns - first;
  const fromStride = x && !broadcast ? x.rows.stride : 0;
  return (rows: number) => {
    for (let row = 0; row < rows; row++) {
      for (let v = 0; v < count; v++) {
        const at = row * y.rows.stride + first + v * (y.step ?? 0);
        const fromAt = row * fromStride + (x?.first ?? 0) + v * (x?.step ?? 0);
        for (let k = 0; k < columns; k++) {
          const other = x ? from[fromAt + Math.floor(k / repeat)] : 0;
          to[at + k] = elementwiseReference(operation, to[at + k], other, factor);
        }
      }
    }
  };
}

/** Each vector of y is added the sum of those of x, weighted by the row. */
export function mix(
  weights: FloatRows,
  x: Columns,
  y: Columns,
  { inputs, outputs, bias = 0 }: MixOptions,
) {
  const [factors, from, to] = [floatsOf(weights), floatsOf(x.rows), floatsOf(y.rows)];
  const first = y.first ?? 0;
  const columns = y.columns ?? y.rows.columns - first;
  const values = new Float64Array(inputs);
  return (rows: number) => {
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < columns; k++) {
        for (let j = 0; j < inputs; j++) {
          values[j] = from[row * x.rows.stride + (x.first ?? 0) + j * (x.step ?? 0) + k];
        }
        for (let output = 0; output < outputs; output++) {
          let sum = 0;
          for (let j = 0; j < inputs; j++) {
            sum += (factors[row * weights.stride + output * inputs + j] + bias) * values[j];
          }
          to[row * y.rows.stride + first + output * (y.step ?? 0) + k] += sum;
        }
      }
    }
  };
}

/** Scales each vector of y to the L2 norm of the row's reference. */
export function matchMagnitude(y: Columns, reference: Columns, { count = 1 }: { count?: number }) {
  const [to, from] = [floatsOf(y.rows), floatsOf(reference.rows)];
  const first = y.first ?? 0;
  const columns = y.columns ?? y.rows.columns - first;
  const squares = (values: Float32Array, at: number) => {
    let sum = 0;
    for (let k = 0; k < columns; k++) sum += values[at + k] ** 2;
    return sum;
  };
  return (rows: number) => {
    for (let row = 0; row < rows; row++) {
      const size = squares(from, row * reference.rows.stride + (reference.first ?? 0));
      for (let v = 0; v < count; v++) {
        const at = row * y.rows.stride + first + v * (y.step ?? 0);
        const own = squares(to, at);
        const scale = own === 0 ? 0 : Math.sqrt(size / own);
        for (let k = 0; k < columns; k++) to[at + k] *= scale;
      }
    }
  };
}

/** x = max(0, x - mean - factor * deviation) of each row. */
export function sparsify(x: FloatRows, factor: number) {
  const values = floatsOf(x);
  return (rows: number) => {
    for (let row = 0; row < rows; row++) {
      const at = row * x.stride;
      values.set(sparsifyReference(values.slice(at, at + x.columns), factor), at);
    }
  };
}

/** The norm of each group of x, times what its gate gives. */
export function gatedNorm(
  x: ColumnRange,
  y: FloatRows,
  { groups, weight, sharedWeight = false, epsilon, gate }: GatedNormOptions,
) {
  const [from, to, weights] = [floatsOf(x.rows), floatsOf(y), cpu(weight).floats];
  const gates = gate && floatsOf(gate.z.rows);
  const columns = y.columns / groups;
  return (rows: number) => {
    for (let row = 0; row < rows; row++) {
      for (let group = 0; group < groups; group++) {
        const at = row * x.rows.stride + x.first + group * columns;
        const out = row * y.stride + group * columns;
        let squares = 0;
        for (let k = 0; k < columns; k++) squares += from[at + k] ** 2;
        const scale = 1 / Math.sqrt(squares / columns + epsilon);
        for (let k = 0; k < columns; k++) {
          let value = from[at + k] * scale * weights[(sharedWeight ? 0 : group * columns) + k];
          if (gate && gates) {
            const z = gates[row * gate.z.rows.stride + gate.z.first + group * columns + k];
            value *= gate.activation === "sigmoid" ? sigmoid(z) : z * sigmoid(z);
          }
          to[out + k] = value;
        }
      }
    }
  };
}
