// Weight matrices. GGUF bytes stream in through a writer, so that a file is never in memory as a
// whole. The layout in memory is the device's choice. Two matrices of one shape can be paired (gate
// and up projections).

import type { FileBytes } from "../../host/mod.ts";
import type { QuantFormat } from "../quants/mod.ts";
import type { Activation, ActivationFunction } from "./activation.ts";
import type { Norm } from "./norm.ts";

/**
 * A matrix [sides * rows, columns]. `sides` is 2 for a pair, in which rows with the same number
 * belong together.
 */
export interface Matrix {
  readonly label: string;
  readonly format: QuantFormat;
  readonly rows: number;
  readonly columns: number;
  readonly sides: 1 | 2;
}

/** A writer of a matrix in the format of the file. */
export interface MatrixWriter {
  /** Appends whole rows of GGUF blocks, in order. */
  append(rows: Uint8Array): void;
  /**
   * Memory into which the next rows can be read, if there is any. Appending it then needs no copy.
   */
  target?(bytes: number): Uint8Array;
  /**
   * Reads the next rows from a file, where the device has threads that can. False if it has not: then the
   * rows are to be appended.
   */
  read?(file: FileBytes, rows: number): boolean;
  /** Completes the matrix. To be called once, after the last row. */
  finish(): void;
}

/** A scale and a bias for each row of a matrix: y = scale * (w x) + bias, side after side. */
export interface Affine {
  scale: Float32Array;
  bias: Float32Array;
}

/** The shape of a matrix and how it is divided. */
export interface MatrixShape {
  rows: number;
  columns: number;
  /** 2 for a pair. */
  sides?: 1 | 2;
  /** Number of rows that must not be split, such as those of an expert. Default 32. */
  unit?: number;
}

// y = x W^T for weights of any format, and its plain reference. Products with expert matrices are
// in experts.ts.

/** A matrix of several whose results lie side by side in y, and its first column of y. */
export interface StackedMatrix<M extends Matrix = Matrix> {
  readonly matrix: M;
  readonly first: number;
}

/** The options of a product. */
export interface LinearOptions {
  /** Whether to add to y (the residual stream) instead of replacing it. */
  accumulate?: boolean;
  /** Column of y for row 0 of the matrix. */
  first?: number;
  /** Activation of the gate in a paired matrix. Default "silu". */
  activation?: ActivationFunction;
  /** A norm of y that is fused with the product. */
  norm?: FusedNorm;
}

/**
 * An RMSNorm of y = y + x W^T that is fused with the product where there are few rows; see
 * `Device.mostFusedNormRows`. Each group of 32 columns is multiplied by its weights, and becomes int8 codes
 * or stays f32, with its sum of squares. The root mean square is known when all groups are there, so each
 * product that reads them sums the squares, and divides its results by the root.
 */
export interface FusedNorm {
  /** Without a bias, and with weights. */
  readonly norm: Norm;
  /** Its result: as many columns as y, and `deferredEpsilon` that of the norm. */
  readonly y: Activation;
}

/** The plain reference, summed in f64: weights [rows, columns], x [tokens, columns]. */
export function linearReference(
  weights: Float32Array,
  x: Float32Array,
  shape: { rows: number; columns: number; tokens: number },
): Float32Array {
  const { rows, columns, tokens } = shape;
  const y = new Float32Array(tokens * rows); // [tokens, rows]
  for (let t = 0; t < tokens; t++) {
    for (let n = 0; n < rows; n++) {
      let sum = 0;
      for (let k = 0; k < columns; k++) sum += x[t * columns + k] * weights[n * columns + k];
      y[t * rows + n] = sum;
    }
  }
  return y;
}
