// Weight matrices. GGUF bytes stream in through a writer, so that a file is never in memory as a
// whole. The layout in memory is the device's choice. Two matrices of one shape can be paired (gate
// and up projections).

import type { QuantFormat } from "../quants/mod.ts";

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
