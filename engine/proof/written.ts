// What the operations of a step write, by keys that are the same on every device.

import type { FloatRows } from "../../kernels/mod.ts";
import type { StepOperation, StepShape } from "../nn/mod.ts";

/** The rows that the operations of a step have written: [rows, columns] each, by {@linkcode outputKeys}. */
export type Written = ReadonlyMap<string, Float32Array>;

/**
 * The keys of operations that write rows of floats which other devices write too: layer, meaning, and a
 * number. Rows whose norm is left to their reader are none of these.
 */
export function outputKeys(operations: readonly StepOperation[]): Map<StepOperation, string> {
  const counts = new Map<string, number>();
  return new Map(operations.flatMap((operation) => {
    const { layer, output, outputName } = operation;
    if (!output || outputName === undefined || output.deferredEpsilon !== undefined) return [];
    const name = `${layer ?? "top"} ${outputName}`;
    const number = counts.get(name) ?? 0;
    counts.set(name, number + 1);
    return [[operation, `${name} ${number}`] as const];
  }));
}

/** Rows that an operation writes in a step. */
export function rowsOf({ rowsOf }: StepOperation, step: StepShape): number {
  return rowsOf?.(step) ?? step.rows;
}

/** Rows without their padding. */
export function unpad(
  floats: Float32Array,
  { columns, stride }: FloatRows,
  rows: number,
): Float32Array<ArrayBuffer> {
  const values = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    values.set(floats.subarray(row * stride, row * stride + columns), row * columns);
  }
  return values;
}
