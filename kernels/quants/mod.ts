// The table of weight formats by their ggml_type: all formats in which llama.cpp writes weights.
// A new one is a constant in one of the files of families, and a part of its WGSL. Others (I8 to I64, F64, and the Q8_1 and Q8_K of activations) are not supported.

import * as codebooks from "./codebooks.ts";
import * as floats from "./floats.ts";
import type { QuantFormat } from "./format.ts";
import * as superBlocks from "./k_quants.ts";
import * as simple from "./simple.ts";

export type { Arrangement, Codebook, Plane, QuantFormat } from "./format.ts";
export { fieldBytesOf, liesAsInFile, repack } from "./repack.ts";

/** All supported formats, in the order of ggml_type. */
export const quantFormats: readonly QuantFormat[] = [floats, simple, superBlocks, codebooks]
  .flatMap((family) => Object.values<QuantFormat>(family))
  .sort((a, b) => a.ggmlType - b.ggmlType);

const byType = new Map(quantFormats.map((format) => [format.ggmlType, format]));

/** The format of a value of the ggml_type enum, or undefined if it is not supported. */
export function quantFormat(ggmlType: number): QuantFormat | undefined {
  return byType.get(ggmlType);
}
