// RMSNorm and LayerNorm of whole rows or of the heads within them: the binding of norm.wgsl.

import normSource from "./norm.wgsl" with { type: "text" };
import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import {
  type Activation,
  bufferOf,
  type FloatRows,
  isQuantized,
  squareQuads,
} from "../ops/activation.ts";
import type { Norm, NormOptions } from "../ops/norm.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { reduction } from "./workgroup.ts";

/** y = norm(x), or y += norm(x). In place if x is y. */
export class Normalize {
  readonly #dispatch: Dispatch;
  readonly #count: number;

  /** @param x [rows, columns] @param y the same shape, f32 or int8 groups, or x itself */
  constructor(device: Gpu, x: FloatRows, y: Activation, norm: Norm, options: NormOptions = {}) {
    const { source, vectors, next } = options;
    const { constants, snippet } = reduction(device);
    const { weight, bias } = norm;
    const QUANTIZED_OUTPUT = isQuantized(y);
    const QUANTIZED_NEXT = next !== undefined && isQuantized(next.y);
    const IN_PLACE = !isQuantized(y) && y.floats === x.floats;
    const squares = isQuantized(y) ? undefined : y.squares;
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
        NEXT: next !== undefined,
        QUANTIZED_NEXT,
        SQUARES: squares !== undefined,
      },
      snippets: QUANTIZED_OUTPUT || QUANTIZED_NEXT ? [snippet, quantizeGroupSource] : [snippet],
    }).bind({
      ...(IN_PLACE ? {} : { x: x.floats }),
      ...(weight ? { weight } : {}),
      ...(bias ? { bias } : {}),
      ...(source ? { source } : {}),
      y: bufferOf(y),
      ...(next ? { next_weight: next.norm.weight!, next: bufferOf(next.y) } : {}),
    }, {
      columns: vectors?.columns ?? x.columns,
      width: (vectors?.columns ?? x.stride) / 4,
      first: vectors?.first ?? 0,
      stride: x.stride,
      y_stride: y.stride,
      weight_step: vectors && norm.weightPerVector ? vectors.columns : 0,
      epsilon: norm.epsilon,
      next_epsilon: next?.norm.epsilon ?? 0,
      squares: (squares ?? 0) / 4,
      square_quads: squareQuads(y.columns),
    });
  }

  /** Records the first `rows` rows of y. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [rows, this.#count]);
  }
}
