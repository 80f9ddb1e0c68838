// Elementwise operations on columns, for what only few architectures have: the binding of
// elementwise.wgsl. What all models have is part of larger kernels instead.

import source from "./elementwise.wgsl" with { type: "text" };
import scalarsSource from "./scalars.wgsl" with { type: "text" };
import {
  type Columns,
  ELEMENTWISE_OPERATIONS,
  type ElementwiseOperation,
  type ElementwiseOptions,
} from "../ops/elementwise.ts";
import { activationFunction } from "./activation_function.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

const WORKGROUP = 32;

/** An operation in place on columns of y. */
export class Elementwise {
  readonly #dispatch: Dispatch;
  readonly #columns: number;
  readonly #count: number;

  constructor(
    device: Gpu,
    operation: ElementwiseOperation,
    y: Columns,
    { count = 1, x, broadcast = false, repeat = 1, gate, factor = 1 }: ElementwiseOptions = {},
  ) {
    const first = y.first ?? 0;
    const gelu = operation === "gelu_gate" ? activationFunction("gelu") : undefined;
    this.#count = count;
    this.#columns = y.columns ?? y.rows.columns - first;
    this.#dispatch = device.kernel({
      name: `elementwise ${operation}`,
      source,
      constants: {
        WORKGROUP,
        HAS_X: x !== undefined,
        GATED: gate !== undefined,
        ...Object.fromEntries(
          ELEMENTWISE_OPERATIONS.map((name) => [name.toUpperCase(), name === operation]),
        ),
        ...gelu?.constants,
      },
      snippets: gelu ? [gelu.snippet] : [scalarsSource],
    }).bind({
      y: y.rows.floats,
      ...(x ? { x: x.rows.floats } : {}),
      ...(gate ? { gate: gate.rows.floats } : {}),
    }, {
      columns: this.#columns,
      first,
      step: y.step ?? 0,
      stride: y.rows.stride,
      x_first: x?.first ?? 0,
      x_step: x?.step ?? 0,
      x_stride: x && !broadcast ? x.rows.stride : 0,
      repeat,
      factor,
      gate_first: gate?.first ?? 0,
      gate_stride: gate?.rows.stride ?? 0,
    });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [Math.ceil(this.#columns / WORKGROUP), rows, this.#count]);
  }
}
