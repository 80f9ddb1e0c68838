// What operations on the vectors of rows share.

import type { Columns } from "../../ops/elementwise.ts";
import { cpu } from "../memory.ts";
import { v128 } from "../wasm/mod.ts";

/** Four zeros. */
export const ZERO = v128.const(new Uint8Array(16));

/** The arguments for columns: the address of the first vector; strides of rows and vectors in bytes. */
export function placeOf({ rows, first = 0, step = 0 }: Columns) {
  return { address: cpu(rows.floats).address + 4 * first, stride: 4 * rows.stride, step: 4 * step };
}

/** Columns of a vector. */
export function widthOf({ rows, first = 0, columns }: Columns): number {
  return columns ?? rows.columns - first;
}
