// Weight matrices. GGUF bytes stream in through a writer, so that a file is never held in memory; how
// a matrix lies there is the device's business. Two matrices of one shape can be paired (gate and up
// projections).

import type { QuantFormat } from "../quants/mod.ts";

/** A matrix [sides * rows, columns]; `sides` is 2 for a pair whose rows i belong together. */
export interface Matrix {
  readonly label: string;
  readonly format: QuantFormat;
  readonly rows: number;
  readonly columns: number;
  readonly sides: 1 | 2;
}

/** Takes a matrix as it comes from the file. */
export interface MatrixWriter {
  /** Takes whole rows of GGUF blocks, first to last. */
  append(rows: Uint8Array): void;
  /** Memory for so many bytes of the next rows, where it can be had: appended, they are not copied. */
  room?(bytes: number): Uint8Array<ArrayBuffer>;
  /** Writes what is left. Call once, after the last row. */
  finish(): void;
}

/** A factor and a bias for each row of a matrix: y = scale * (w x) + bias, side after side. */
export interface Affine {
  scale: Float32Array;
  bias: Float32Array;
}

/** Rows and columns of a matrix, and what they consist of. */
export interface MatrixShape {
  rows: number;
  columns: number;
  /** 2 for a pair. */
  sides?: 1 | 2;
  /** Rows that stay in one part: those of an expert. Default 32. */
  unit?: number;
}
