// Formats whose blocks have one scale (and minimum): Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, IQ4_NL, MXFP4,
// NVFP4, Q1_0, Q2_0. kernels/quants describes their blocks in the file.

import {
  iq4_nl,
  mxfp4,
  nvfp4,
  q1_0,
  q2_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
} from "../../quants/simple.ts";
import { fp4Doubles, iq4Values } from "../../quants/code_values.ts";
import { i32, i8x16, v128 } from "../wasm/mod.ts";
import type { BandFormat } from "./format.ts";
import { bytes, field, spreadBits, tabled } from "./codes.ts";
import { floatByteScales, halfScales } from "./scales.ts";

/** Codes of 32 columns in sixteen bytes: those of columns 0 to 15 low, of 16 to 31 high. */
const nibbles = (at: number): BandFormat["codes"] => (f, { memory, address }, _group, half) =>
  field(f, memory.v128.load(address, at), -4 * half, 15);

/** Codes of five bits: low four bits as in `nibbles`, fifth bits in a word of their own. */
const fiveBits = (high: number, low: number): BandFormat["codes"] => (f, block, group, half) => {
  const { memory, address } = block;
  const fifth = spreadBits(f, memory.v128.load16_splat(address, high + 2 * half));
  return v128.or(nibbles(low)(f, block, group, half), v128.and(fifth, bytes(f, 16)));
};

/** Codes of two bits, four a byte: sixteen columns are four bytes from `at` on. */
const quarters = (at: number): BandFormat["codes"] => (f, { memory, address }, group, half) => {
  const four = memory.v128.load32_zero(address, at + 8 * group + 4 * half);
  const each = f.let(i8x16.swizzle(four, f.constant(LANES.map((lane) => lane >> 2))));
  // Columns 0 and 1 of a byte are in its low nibble; a table halves a nibble.
  const nibble = f.let(v128.bitselect(
    field(f, each, -4, 15),
    v128.and(each, bytes(f, 15)),
    f.constant(LANES.map((lane) => lane & 2 ? 255 : 0)),
  ));
  return v128.bitselect(
    i8x16.swizzle(f.constant(LANES.map((code) => code >> 2)), nibble),
    v128.and(nibble, bytes(f, 3)),
    f.constant(LANES.map((lane) => lane & 1 ? 255 : 0)),
  );
};

const LANES = Array.from({ length: 16 }, (_, lane) => lane);

/** Formats with one scale per block. */
export const simpleFormats: readonly BandFormat[] = [
  { source: q4_0, bits: 4, offset: 8, scales: halfScales(0), codes: nibbles(2) },
  { source: q4_1, bits: 4, offset: 0, scales: halfScales(0, 2), codes: nibbles(4) },
  { source: q5_0, bits: 5, offset: 16, scales: halfScales(0), codes: fiveBits(2, 6) },
  { source: q5_1, bits: 5, offset: 0, scales: halfScales(0, 2), codes: fiveBits(4, 8) },
  {
    source: q8_0,
    bits: 8,
    offset: 128,
    scales: halfScales(0),
    codes: (f, { memory, address }, _group, half) =>
      v128.xor(memory.v128.load(address, 2 + 16 * half), bytes(f, 128)),
  },
  {
    source: iq4_nl,
    bits: 4,
    ...tabled(iq4Values),
    scales: halfScales(0),
    codes: nibbles(2),
  },
  {
    source: mxfp4,
    bits: 4,
    ...tabled(fp4Doubles),
    scales: floatByteScales({
      shift: 23,
      factor: 0.5, // The values are doubled.
      halves: false,
      scale: ({ memory, address }) => memory.i32.load8_u(address),
    }),
    codes: nibbles(1),
  },
  {
    source: nvfp4,
    bits: 4,
    ...tabled(fp4Doubles),
    scales: floatByteScales({
      shift: 20,
      factor: 2 ** 119, // 2^120 for the difference of the exponent biases, halved: values are doubled.
      halves: true,
      // The sign bit is ignored, and NaN is read as zero.
      scale: ({ memory, address }, index) => {
        const magnitude = i32.and(memory.i32.load8_u(address, index), 127);
        return i32.mul(magnitude, i32.ne(magnitude, 127));
      },
    }),
    codes: (f, { memory, address }, group, half) => {
      const eight = f.let(memory.v128.load64_splat(address, 4 + 16 * group + 8 * half));
      return v128.bitselect(
        field(f, eight, -4, 15),
        v128.and(eight, bytes(f, 15)),
        f.constant(LANES.map((lane) => lane >> 3 ? 255 : 0)),
      );
    },
  },
  {
    source: q1_0,
    bits: 1,
    ...tabled([-1, 1]),
    scales: halfScales(0),
    codes: (f, { memory, address }, group, half) =>
      v128.and(
        spreadBits(f, memory.v128.load16_splat(address, 2 + 4 * group + 2 * half)),
        bytes(f, 1),
      ),
  },
  { source: q2_0, bits: 2, offset: 1, scales: halfScales(0), codes: quarters(2) },
];
