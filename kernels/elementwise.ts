// Small operations on every value of some columns, for what few architectures have: the binding of
// elementwise.wgsl. What is on every model's way is fused into larger kernels instead.

import source from "./elementwise.wgsl" with { type: "text" };
import type { FloatRows } from "./activation.ts";
import { activationFunction, gateReference } from "./activation_function.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";

/** What becomes of y, given x and the factor. */
export type ElementwiseOperation =
  /** x * factor */
  | "copy"
  /** y + x * factor */
  | "add"
  /** y * x */
  | "multiply"
  /** y * factor */
  | "scale"
  /** y * sigmoid(x) */
  | "sigmoid_gate"
  /** gelu(y) * x */
  | "gelu_gate"
  /** factor * tanh(y / factor) */
  | "softcap"
  /** max(y, factor) */
  | "at_least"
  /** min(y, factor) */
  | "at_most";

/** Columns of an activation: one vector in each row, or several of the same width. */
export interface Columns {
  readonly rows: FloatRows;
  /** Where the first vector begins. Default 0. */
  readonly first?: number;
  /** Columns of a vector. Default: all that follow. */
  readonly columns?: number;
  /** Distance from one vector to the next; 0 where all vectors of y read the same of x. */
  readonly step?: number;
}

/** What an operation takes beside y. */
export interface ElementwiseOptions {
  /** Vectors in each row. Default 1. */
  count?: number;
  /** The other operand: as many rows as y, or with `broadcast` one for all. */
  x?: Columns;
  broadcast?: boolean;
  /** Neighbouring columns of y that share a column of x. Default 1. */
  repeat?: number;
  /** Default 1. */
  factor?: number;
}

const OPERATIONS: readonly ElementwiseOperation[] = [
  ...["copy", "add", "multiply", "scale"] as const,
  ...["sigmoid_gate", "gelu_gate", "softcap", "at_least", "at_most"] as const,
];

const WORKGROUP = 32;

/** One operation in place on columns of y. */
export class Elementwise {
  readonly #dispatch: Dispatch;
  readonly #columns: number;
  readonly #count: number;

  constructor(
    device: Device,
    operation: ElementwiseOperation,
    y: Columns,
    { count = 1, x, broadcast = false, repeat = 1, factor = 1 }: ElementwiseOptions = {},
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
        ...Object.fromEntries(OPERATIONS.map((name) => [name.toUpperCase(), name === operation])),
        ...gelu?.constants,
      },
      snippets: gelu ? [gelu.snippet] : [],
    }).bind({ y: y.rows.floats, ...(x ? { x: x.rows.floats } : {}) }, {
      columns: this.#columns,
      first,
      step: y.step ?? 0,
      stride: y.rows.stride,
      x_first: x?.first ?? 0,
      x_step: x?.step ?? 0,
      x_stride: x && !broadcast ? x.rows.stride : 0,
      repeat,
      factor,
    });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [Math.ceil(this.#columns / WORKGROUP), rows, this.#count]);
  }
}

/** An operation on one value in plain numbers. */
export function elementwiseReference(
  operation: ElementwiseOperation,
  y: number,
  x: number,
  factor: number,
): number {
  switch (operation) {
    case "copy":
      return x * factor;
    case "add":
      return y + x * factor;
    case "multiply":
      return y * x;
    case "scale":
      return y * factor;
    case "sigmoid_gate":
      return y / (1 + Math.exp(-x));
    case "gelu_gate":
      return gateReference("gelu", y, x);
    case "softcap":
      return factor * Math.tanh(y / factor);
    case "at_least":
      return Math.max(y, factor);
    case "at_most":
      return Math.min(y, factor);
  }
}
