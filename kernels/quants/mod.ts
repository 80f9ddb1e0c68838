// The table of weight formats by their ggml_type: all formats in which llama.cpp writes weights.
// Others (I8 to I64, F64, and the Q8_1 and Q8_K of activations) are not supported.

import type { QuantFormat } from "./format.ts";
import * as list from "./list.ts";

export type { Arrangement, Codebook, Plane, QuantFormat } from "./format.ts";
export { fieldBytesOf, liesAsInFile, repack } from "./repack.ts";

/** All supported formats, in the order of ggml_type. */
export const quantFormats: readonly QuantFormat[] = Object.values<QuantFormat>(list)
  .sort((a, b) => a.ggmlType - b.ggmlType);

const byType = new Map(quantFormats.map((format) => [format.ggmlType, format]));

/** The format of a value of the ggml_type enum, or undefined if it is not supported. */
export function quantFormat(ggmlType: number): QuantFormat | undefined {
  return byType.get(ggmlType);
}
