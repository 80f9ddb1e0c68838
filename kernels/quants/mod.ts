// The table of weight formats by their ggml_type: all formats in which llama.cpp writes weights.
// Others (I8 to I64, F64, and the Q8_1 and Q8_K of activations) are not supported.

import { bf16 } from "./bf16.ts";
import { f16 } from "./f16.ts";
import { f32 } from "./f32.ts";
import type { QuantFormat } from "./format.ts";
import { iq1_m } from "./iq1_m.ts";
import { iq1_s } from "./iq1_s.ts";
import { iq2_s } from "./iq2_s.ts";
import { iq2_xs } from "./iq2_xs.ts";
import { iq2_xxs } from "./iq2_xxs.ts";
import { iq3_s } from "./iq3_s.ts";
import { iq3_xxs } from "./iq3_xxs.ts";
import { iq4_nl } from "./iq4_nl.ts";
import { iq4_xs } from "./iq4_xs.ts";
import { mxfp4 } from "./mxfp4.ts";
import { nvfp4 } from "./nvfp4.ts";
import { q1_0 } from "./q1_0.ts";
import { q2_0 } from "./q2_0.ts";
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
import { tq1_0 } from "./tq1_0.ts";
import { tq2_0 } from "./tq2_0.ts";

export type { Arrangement, Codebook, Plane, QuantFormat } from "./format.ts";
export { fieldBytesOf, liesAsInFile, repack } from "./repack.ts";

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
  iq2_xxs,
  iq2_xs,
  iq3_xxs,
  iq1_s,
  iq4_nl,
  iq3_s,
  iq2_s,
  iq4_xs,
  iq1_m,
  bf16,
  tq1_0,
  tq2_0,
  mxfp4,
  nvfp4,
  q1_0,
  q2_0,
];

const byType = new Map(quantFormats.map((format) => [format.ggmlType, format]));

/** The format of a value of the ggml_type enum, or undefined if it is not supported. */
export function quantFormat(ggmlType: number): QuantFormat | undefined {
  return byType.get(ggmlType);
}
