// Elementwise operations on columns, for what only few architectures have, and their plain
// reference. What all models have is part of larger operations instead.

import type { FloatRows } from "./activation.ts";
import { gateReference } from "./activation_function.ts";

/** Each operation by its plain reference for one value: the new y, given y, x and the factor. */
const OPERATIONS = {
  copy: (_y, x, factor) => x * factor,
  add: (y, x, factor) => y + x * factor,
  multiply: (y, x) => y * x,
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
