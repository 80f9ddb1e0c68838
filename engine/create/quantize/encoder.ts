// The encoders that write weights in a format of GGML, by the format's name. Block layouts as in
// ggml-common.h; kernels/quants reads them.

import { type TensorType, tensorTypeByName } from "../../gguf/mod.ts";
import { q4K, q5K } from "./affine_blocks.ts";
import { bf16, f16, f32 } from "./floats.ts";
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

// Quantizes to blocks of 32 weights with one scale: Q8_0, Q4_0, Q5_0 and, with a minimum, Q5_1. The
// scale follows from the extremes, without a search, in single precision, so that codes equal those
// of GGML's reference quantizers. Layouts as in ggml-common.h.

const BLOCK = 32;
const HALF = BLOCK / 2;
const { abs, floor, fround, max, min } = Math;

/** Writes Q8_0: the largest magnitude becomes 127, ties are rounded away from zero. */
function q8_0(weights: Float32Array, target: Uint8Array): void {
  const view = viewOf(target);
  for (let first = 0, at = 0; first < weights.length; first += BLOCK, at += 34) {
    let greatest = 0;
    for (let i = 0; i < BLOCK; i++) greatest = max(greatest, abs(weights[first + i]));
    const scale = fround(greatest / 127);
    const inverse = inverseOf(scale);
    view.setFloat16(at, scale, true);
    for (let i = 0; i < BLOCK; i++) {
      const value = fround(weights[first + i] * inverse);
      target[at + 2 + i] = value < 0 ? -floor(0.5 - value) : floor(value + 0.5);
    }
  }
}

/** Writes Q4_0: the weight with the largest magnitude becomes code 0, which means -8. */
function q4_0(weights: Float32Array, target: Uint8Array): void {
  const view = viewOf(target);
  for (let first = 0, at = 0; first < weights.length; first += BLOCK, at += 18) {
    const scale = fround(furthest(weights, first) / -8);
    const inverse = inverseOf(scale);
    view.setFloat16(at, scale, true);
    for (let i = first; i < first + HALF; i++) {
      const low = min(15, fround(fround(weights[i] * inverse) + 8.5) | 0);
      const high = min(15, fround(fround(weights[i + HALF] * inverse) + 8.5) | 0);
      target[at + 2 + i - first] = low | high << 4;
    }
  }
}

/** Writes Q5_0: the weight with the largest magnitude becomes code 0, which means -16. */
function q5_0(weights: Float32Array, target: Uint8Array): void {
  const view = viewOf(target);
  for (let first = 0, at = 0; first < weights.length; first += BLOCK, at += 22) {
    const scale = fround(furthest(weights, first) / -16);
    const inverse = inverseOf(scale);
    view.setFloat16(at, scale, true);
    const codeOf = (weight: number) => min(31, fround(fround(weight * inverse) + 16.5) | 0);
    writeFiveBits(weights.subarray(first, first + BLOCK), codeOf, view, at + 2);
  }
}

/** Writes Q5_1: the smallest weight becomes code 0, the largest 31. */
function q5_1(weights: Float32Array, target: Uint8Array): void {
  const view = viewOf(target);
  for (let first = 0, at = 0; first < weights.length; first += BLOCK, at += 24) {
    let [least, greatest] = [Infinity, -Infinity];
    for (let i = first; i < first + BLOCK; i++) {
      least = min(least, weights[i]);
      greatest = max(greatest, weights[i]);
    }
    const scale = fround(fround(greatest - least) / 31);
    const inverse = inverseOf(scale);
    view.setFloat16(at, scale, true);
    view.setFloat16(at + 2, least, true);
    const codeOf = (weight: number) =>
      min(31, fround(fround(fround(weight - least) * inverse) + 0.5) | 0);
    writeFiveBits(weights.subarray(first, first + BLOCK), codeOf, view, at + 4);
  }
}

/** Writes a word of the fifth bits, then the lower bits of two weights, 16 apart, in each byte. */
function writeFiveBits(
  weights: Float32Array,
  codeOf: (weight: number) => number,
  view: DataView,
  at: number,
): void {
  let fifthBits = 0;
  for (let i = 0; i < HALF; i++) {
    const [low, high] = [codeOf(weights[i]), codeOf(weights[i + HALF])];
    fifthBits |= low >> 4 << i | high >> 4 << (i + HALF);
    view.setUint8(at + 4 + i, low & 15 | (high & 15) << 4);
  }
  view.setUint32(at, fifthBits, true);
}

/** The weight of a block with the largest magnitude; of several, the first. */
function furthest(weights: Float32Array, first: number): number {
  let found = 0;
  for (let i = first; i < first + BLOCK; i++) {
    if (abs(weights[i]) > abs(found)) found = weights[i];
  }
  return found;
}

function inverseOf(scale: number): number {
  return scale === 0 ? 0 : fround(1 / scale);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
