// Seeded random GGUF blocks for tests: all codes and scales occur, and the half-precision factors
// include zero, subnormal, largest and negative ones, but no infinity and no NaN.

import type { QuantFormat } from "../../../kernels/quants/mod.ts";

/** Byte offsets of the halves in a block of each format that has any. */
const HALVES: Record<string, readonly number[]> = {
  F16: [0],
  Q4_0: [0],
  Q4_1: [0, 2],
  Q5_0: [0],
  Q5_1: [0, 2],
  Q8_0: [0],
  Q2_K: [80, 82],
  Q3_K: [108],
  Q4_K: [0, 2],
  Q5_K: [0, 2],
  Q6_K: [208],
  IQ1_S: [0],
  IQ2_XXS: [0],
  IQ2_XS: [0],
  IQ2_S: [0],
  IQ3_XXS: [0],
  IQ3_S: [0],
  IQ4_NL: [0],
  IQ4_XS: [0],
  TQ1_0: [52],
  TQ2_0: [64],
  Q1_0: [0],
  Q2_0: [0],
};

/** Zeros, the least and greatest subnormals, the least normal, one, and the greatest half. */
const NOTABLE_HALVES = [0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c00, 0xfbff, 0x7bff];

/** A generator of 32-bit unsigned integers (mulberry32). */
export function randomWords(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return (word ^ (word >>> 14)) >>> 0;
  };
}

/** `blocks` random blocks of the format; every other half-precision factor is a notable one. */
export function randomBlocks(format: QuantFormat, blocks: number, seed: number): Uint8Array {
  const next = randomWords(seed);
  const bytes = new Uint8Array(blocks * format.blockBytes).map(() => next() & 255);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += format.blockBytes) {
    for (const offset of HALVES[format.name] ?? []) {
      view.setUint16(at + offset, finiteHalf(next()), true);
    }
    if (format.name === "IQ1_M") setScattered(view, at + 48, finiteHalf(next()));
    if (format.name === "F32") view.setUint32(at, finite(next(), 0x7f800000), true);
    if (format.name === "BF16") view.setUint16(at, finite(next() & 0xffff, 0x7f80), true);
  }
  return bytes;
}

/** The half of an IQ1_M block, in the top nibbles of four pairs of bytes, the lowest first. */
function setScattered(view: DataView, at: number, half: number): void {
  for (let i = 0; i < 4; i++) {
    const rest = view.getUint16(at + 2 * i, true) & 0x0fff;
    view.setUint16(at + 2 * i, rest | (half >> 4 * i & 15) << 12, true);
  }
}

function finiteHalf(word: number): number {
  const notable = (word >>> 16) % (2 * NOTABLE_HALVES.length);
  return NOTABLE_HALVES[notable] ?? finite(word & 0xffff, 0x7c00);
}

/** Clears the lowest bit of the exponent where all its bits are set. */
function finite(bits: number, exponent: number): number {
  return (bits & exponent) === exponent ? (bits & ~(exponent & -exponent)) >>> 0 : bits;
}
