// Formats whose blocks have one scale (and minimum): Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, IQ4_NL, MXFP4, NVFP4,
// Q1_0, Q2_0, TQ2_0. Their blocks in the file are described in kernels/quants.

import { fp4Doubles } from "../../quants/fp4.ts";
import { iq4Values } from "../../quants/codebooks/iq4.ts";
import { iq4_nl } from "../../quants/iq4_nl.ts";
import { mxfp4 } from "../../quants/mxfp4.ts";
import { q4_0 } from "../../quants/q4_0.ts";
import { q4_1 } from "../../quants/q4_1.ts";
import { q5_0 } from "../../quants/q5_0.ts";
import { q5_1 } from "../../quants/q5_1.ts";
import { q8_0 } from "../../quants/q8_0.ts";
import { v128 } from "../wasm/mod.ts";
import type { PackedFormat } from "./format.ts";
import { bytes, field, spreadBits } from "./planes.ts";
import { floatByteScales, halfScales } from "./scales.ts";

/** Codes of 32 columns in sixteen bytes: those of columns 0 to 15 low, of 16 to 31 high. */
const nibbles = (at: number): PackedFormat["codes"] => (f, { memory, address }, _group, half) =>
  field(f, memory.v128.load(address, at), -4 * half, 15);

/** The same with fifth bits in a word of their own. */
const fiveBits = (high: number, low: number): PackedFormat["codes"] => (f, block, group, half) => {
  const { memory, address } = block;
  const fifth = spreadBits(f, memory.v128.load16_splat(address, high + 2 * half));
  return v128.or(nibbles(low)(f, block, group, half), v128.and(fifth, bytes(f, 16)));
};

/** The least value of a table becomes zero, so that all are unsigned. */
function tabled(values: readonly number[]): { table: readonly number[]; offset: number } {
  const offset = -Math.min(...values);
  return { table: values.map((value) => value + offset), offset };
}

/** Formats with one scale per block. */
export const simpleFormats: readonly PackedFormat[] = [
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
    ...tabled([...iq4Values]),
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
];
