// Operations on columns, for what only few architectures have: their plain references, and the facts
// of their operands. What all models have is part of larger operations instead.

import { described, FUNCTION_FLOPS, NORM_FLOPS } from "./described.ts";
import { FLOAT, valueBytes } from "./work.ts";
import { type FloatRows, gateReference } from "./activation.ts";

/** Each operation by its plain reference for one value: the new y, given y, x and the factor. */
const OPERATIONS = {
  copy: (_y, x, factor) => x * factor,
  add: (y, x, factor) => y + x * factor,
  multiply: (y, x) => y * x,
  weigh: (y, x) => x === 0 ? 0 : y * x, // where nothing is wanted, nothing comes, not even a NaN
  scale: (y, _x, factor) => y * factor,
  sigmoid_gate: (y, x) => y / (1 + Math.exp(-x)),
  gelu_gate: (y, x) => gateReference("gelu", y, x),
  softcap: (y, _x, factor) => factor * Math.tanh(y / factor),
  at_least: (y, _x, factor) => Math.max(y, factor),
  at_most: (y, _x, factor) => Math.min(y, factor),
} satisfies Record<string, (y: number, x: number, factor: number) => number>;

/** The name of an operation. */
export type ElementwiseOperation = keyof typeof OPERATIONS;

export const ELEMENTWISE_OPERATIONS = Object.keys(OPERATIONS) as readonly ElementwiseOperation[];

/** Columns of an activation: one vector in each row, or several of the same width. */
export interface Columns {
  readonly rows: FloatRows;
  /** Column where the first vector begins. Default 0. */
  readonly first?: number;
  /** Columns of a vector. Default: all that follow. */
  readonly columns?: number;
  /** Distance from one vector to the next. 0 if all vectors of y read the same vector of x. */
  readonly step?: number;
}

/** The operands besides y. */
export interface ElementwiseOptions {
  /** Vectors in each row. Default 1. */
  count?: number;
  /** The other operand, with as many rows as y, or with `broadcast` one row for all. */
  x?: Columns;
  broadcast?: boolean;
  /** Number of neighbouring columns of y that share a column of x. Default 1. */
  repeat?: number;
  /** A column of each row, by whose sigmoid the other operand is multiplied first. */
  gate?: Columns;
  /** Default 1. */
  factor?: number;
}

/** The plain reference for one value. */
export function elementwiseReference(
  operation: ElementwiseOperation,
  y: number,
  x: number,
  factor: number,
): number {
  return OPERATIONS[operation](y, x, factor);
}

// Operations on the vectors within a row that few architectures have: weighted sums (AltUp, Baykal
// et al. 2023), scaling to the length of another vector, and Gaussian top-k (Spark Transformer, You
// et al. 2025); Gemma 3n has all three. Each has its plain reference.

/** The plain reference for one vector, summed in f64. */
export function matchMagnitudeReference(y: Float32Array, reference: Float32Array): Float32Array {
  const norm = (vector: Float32Array) => Math.hypot(...vector);
  const size = norm(y);
  return y.map((value) => size === 0 ? 0 : value * norm(reference) / size);
}

/** The numbers of vectors in a row, and a bias of the weights. */
export interface MixOptions {
  /** Vectors of x in each row. */
  inputs: number;
  /** Vectors of y in each row. */
  outputs: number;
  /** Added to all weights. Default 0. */
  bias?: number;
}

/**
 * The plain reference of what is added to one row: weights [outputs, inputs], x [inputs, columns].
 */
export function mixReference(
  weights: Float32Array,
  x: Float32Array,
  { inputs, outputs, bias = 0 }: MixOptions,
): Float32Array {
  const columns = x.length / inputs;
  return Float32Array.from({ length: outputs * columns }, (_, at) => {
    const output = Math.floor(at / columns);
    let sum = 0;
    for (let j = 0; j < inputs; j++) {
      sum += (weights[output * inputs + j] + bias) * x[j * columns + at % columns];
    }
    return sum;
  });
}

/** The plain reference for one row, summed in f64. */
export function sparsifyReference(x: Float32Array, factor: number): Float32Array {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const squares = x.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const threshold = mean + factor * Math.sqrt(squares / (x.length - 1));
  return x.map((value) => Math.max(0, value - threshold));
}

/** Columns of a vector. */
function widthOf({ rows, first = 0, columns = rows.columns - first }: Columns): number {
  return columns;
}

/** The facts of these operations, from their operands. */
export const columnOperands = {
  /** A small operation on columns of y in place, for `rows` rows. */
  elementwise(
    operation: ElementwiseOperation,
    y: Columns,
    { x, count = 1, repeat = 1, broadcast, gate }: ElementwiseOptions = {},
  ) {
    const reads = [x, gate].filter((operand) => operand !== undefined);
    const name = operation.replaceAll("_", " ");
    const values = count * widthOf(y);
    const others = x && !broadcast ? values / repeat : 0;
    return described(name, operation === "copy" ? reads : [...reads, y], [y], {
      reads: FLOAT * (others + (operation === "copy" ? 0 : values)),
      writes: FLOAT * values,
      flops: gate || /gate|cap/.test(operation) ? FUNCTION_FLOPS * values : 2 * values,
    });
  },
  /** Each vector of y is the sum of the vectors of x, with the row's weights, for `rows` rows. */
  mix(weights: FloatRows, x: Columns, y: Columns, { inputs, outputs }: MixOptions) {
    const width = widthOf(y);
    return described("mix", [weights, x, y], [y], {
      reads: FLOAT * (inputs * outputs + (inputs + outputs) * width),
      writes: FLOAT * outputs * width,
      flops: 2 * inputs * outputs * width,
    });
  },
  /** Scales each vector of y to the L2 norm of the row's reference, in place, for `rows` rows. */
  matchMagnitude(y: Columns, reference: Columns, { count = 1 }: { count?: number } = {}) {
    const values = count * widthOf(y);
    return described("match magnitude", [y, reference], [y], {
      reads: FLOAT * (values + widthOf(reference)),
      writes: FLOAT * values,
      flops: NORM_FLOPS * values,
    });
  },
  /**
   * x = max(0, x - mean - factor * deviation), with mean and deviation of the row, in place, for
   * `rows` rows.
   */
  sparsify(x: FloatRows, _factor: number) {
    const bytes = valueBytes(x);
    return described("sparsify", [x], [x], {
      reads: bytes,
      writes: bytes,
      flops: NORM_FLOPS * x.columns,
    });
  },
};
