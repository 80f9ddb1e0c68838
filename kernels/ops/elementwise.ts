// Elementwise operations on columns, for what only few architectures have, and their plain
// reference. What all models have is part of larger operations instead.

import type { FloatRows } from "./activation.ts";
import { gateReference } from "./activation_function.ts";

/** The new value of y, given x and the factor. */
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
