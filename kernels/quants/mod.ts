// The weight formats that the kernels read, by their ggml_type. Formats not listed here (the IQ, TQ
// and MXFP4 families) are not supported.

import { bf16 } from "./bf16.ts";
import { f16 } from "./f16.ts";
import { f32 } from "./f32.ts";
import type { QuantFormat } from "./format.ts";
import { q2_k } from "./q2_k.ts";
import { q3_k } from "./q3_k.ts";
import { q4_0 } from "./q4_0.ts";
import { q4_1 } from "./q4_1.ts";
import { q4_k } from "./q4_k.ts";
import { q5_0 } from "./q5_0.ts";
import { q5_1 } from "./q5_1.ts";
import { q5_k } from "./q5_k.ts";
import { q6_k } from "./q6_k.ts";
import { q8_0 } from "./q8_0.ts";

export type { Plane, QuantFormat } from "./format.ts";

/** All supported formats, in the order of ggml_type. */
export const quantFormats: readonly QuantFormat[] = [
  f32,
  f16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  bf16,
];

const byType = new Map(quantFormats.map((format) => [format.ggmlType, format]));

/** The format of a value of the ggml_type enum, or undefined if it is not supported. */
export function quantFormat(ggmlType: number): QuantFormat | undefined {
  return byType.get(ggmlType);
}
