// The encoders that write weights in a format of GGML, by the format's name. Block layouts as in
// ggml-common.h; kernels/quants reads them.

import { type TensorType, tensorTypeByName } from "../../gguf/mod.ts";
import { q4K, q5K } from "./affine_blocks.ts";
import { bf16, f16, f32 } from "./floats.ts";
import { q4_0, q5_0, q5_1, q8_0 } from "./simple_blocks.ts";
import { q6K } from "./q6_k.ts";

/**
 * Writes weights as blocks of a format, from the start of `target`. The weights are whole blocks,
 * and finite within the range of half floats.
 */
export type Encode = (weights: Float32Array, target: Uint8Array) => void;

/** A format in which weights can be written. */
export interface Encoder extends TensorType {
  readonly encode: Encode;
}

const ENCODERS: Readonly<Record<string, Encode | undefined>> = {
  F32: f32,
  F16: f16,
  BF16: bf16,
  Q8_0: q8_0,
  Q4_0: q4_0,
  Q5_0: q5_0,
  Q5_1: q5_1,
  Q4_K: q4K,
  Q5_K: q5K,
  Q6_K: q6K,
};

/** The encoder of a format. Errors: RangeError if there is none of that name. */
export function encoderOf(name: string): Encoder {
  const encode = ENCODERS[name];
  const type = tensorTypeByName(name);
  if (encode && type) return { ...type, encode };
  throw new RangeError(`Cannot quantize to ${name}: there is no encoder of that name`);
}
