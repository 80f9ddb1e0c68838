// RMSNorm and LayerNorm of whole rows or of the heads within them: the binding of norm.wgsl.

import normSource from "./norm.wgsl" with { type: "text" };
import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import { type Activation, bufferOf, type FloatRows, isQuantized } from "./activation.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { reduction } from "./workgroup.ts";

/** A norm as a model has it. */
export interface Norm {
  /** "layer" subtracts the mean first. */
  readonly kind: "rms" | "layer";
  readonly epsilon: number;
  /** A factor per column, padded with zeros to whole groups; none: one. */
  readonly weight?: GPUBuffer;
  /** A term per column, padded likewise. */
  readonly bias?: GPUBuffer;
  /** Whether each vector of a row has weights of its own, side by side in `weight`. */
  readonly weightPerVector?: boolean;
}

/** Which vectors are normalized, and what becomes of them. */
export interface NormOptions {
  /** Row numbers of x to normalize, one per row of y; default all in order. */
  source?: GPUBuffer;
  /** Vectors within each row, from column `first` on, both multiples of four. Default: the row. */
  vectors?: { first: number; count: number; columns: number };
  /** Adds to y instead of replacing it. */
  accumulate?: boolean;
}

/** y = norm(x), or y += norm(x); in place where x is y. */
export class Normalize {
  readonly #dispatch: Dispatch;
  readonly #count: number;

  /** @param x [rows, columns] @param y the same shape, f32 or int8 groups, or x itself */
  constructor(device: Device, x: FloatRows, y: Activation, norm: Norm, options: NormOptions = {}) {
    const { source, vectors } = options;
    const { constants, snippet } = reduction(device);
    const { weight, bias } = norm;
    const QUANTIZED_OUTPUT = isQuantized(y);
    const IN_PLACE = !isQuantized(y) && y.floats === x.floats;
    this.#count = vectors?.count ?? 1;
    this.#dispatch = device.kernel({
      name: "norm",
      source: normSource,
      constants: {
        ...constants,
        QUANTIZED_OUTPUT,
        IN_PLACE,
        GATHER: source !== undefined,
        LAYER: norm.kind === "layer",
        WEIGHT: weight !== undefined,
        BIAS: bias !== undefined,
        ADD: Boolean(options.accumulate),
      },
      snippets: QUANTIZED_OUTPUT ? [snippet, quantizeGroupSource] : [snippet],
    }).bind({
      ...(IN_PLACE ? {} : { x: x.floats }),
      ...(weight ? { weight } : {}),
      ...(bias ? { bias } : {}),
      ...(source ? { source } : {}),
      y: bufferOf(y),
    }, {
      columns: vectors?.columns ?? x.columns,
      width: (vectors?.columns ?? x.stride) / 4,
      first: vectors?.first ?? 0,
      stride: x.stride,
      y_stride: y.stride,
      weight_step: vectors && norm.weightPerVector ? vectors.columns : 0,
      epsilon: norm.epsilon,
    });
  }

  /** Records the first `rows` rows of y. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [rows, this.#count]);
  }
}

/** A norm in plain loops, summed in f64. x: vectors of `columns`, one after the other. */
export function normReference(
  x: Float32Array,
  columns: number,
  norm: { kind: "rms" | "layer"; epsilon: number; weight?: Float32Array; bias?: Float32Array },
): Float32Array {
  const y = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += columns) {
    const vector = x.subarray(start, start + columns);
    const mean = norm.kind === "rms" ? 0 : vector.reduce((sum, value) => sum + value, 0) / columns;
    const squares = vector.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const scale = 1 / Math.sqrt(squares / columns + norm.epsilon);
    for (let k = 0; k < columns; k++) {
      const { weight, bias } = norm;
      y[start + k] = (vector[k] - mean) * scale * (weight?.[k] ?? 1) + (bias?.[k] ?? 0);
    }
  }
  return y;
}
