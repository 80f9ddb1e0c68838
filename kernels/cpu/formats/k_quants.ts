// The K-quants and similar formats: 256 weights with half-precision factors, and scales of few bits
// for every 16 or 32; IQ4_XS and TQ2_0. kernels/quants describes their blocks in the file.

import { iq4_xs, q2_k, q3_k, q4_k, q5_k, q6_k, tq2_0 } from "../../quants/k_quants.ts";
import { iq4Values } from "../../quants/code_values.ts";
import { type Expression, type FunctionBuilder, i32, type V128, v128 } from "../wasm/mod.ts";
import type { BandFormat, Pointer } from "./format.ts";
import { field, tabled } from "./planes.ts";
import { byteScales, halfScales } from "./scales.ts";

/** Bits of a byte of a block, shifted down. */
function bitsOf({ memory, address }: Pointer, at: number, shift: number, mask: number) {
  const byte = memory.i32.load8_u(address, at);
  return i32.and(shift === 0 ? byte : i32.shr_u(byte, shift), mask);
}

/** A number joined from its low and high bits. */
function joined(low: Expression<"i32">, high: Expression<"i32">, shift: number): Expression<"i32"> {
  return i32.or(low, i32.shl(high, shift));
}

/** The six bits of scale or minimum `index` in the twelve bytes of Q4_K and Q5_K, see kScales. */
const sixBits = (isMinimum: boolean) => (block: Pointer, index: number): Expression<"i32"> => {
  const at = 4 + index + (isMinimum ? 4 : 0);
  if (index < 4) return bitsOf(block, at, 0, 63);
  const low = bitsOf(block, 4 + index + 4, isMinimum ? 4 : 0, 15);
  return joined(low, bitsOf(block, isMinimum ? 4 + index : index, 6, 3), 4);
};

const sixBitScales = byteScales({
  factors: [0, 2],
  halves: false,
  scale: sixBits(false),
  minimum: sixBits(true),
});

/** Sixteen bytes of a block. */
function load({ memory, address }: Pointer, at: number): V128 {
  return memory.v128.load(address, at);
}

/** Nibbles of Q4_K and Q5_K: a byte has weights of two groups. */
function nibbles(
  f: FunctionBuilder,
  block: Pointer,
  at: number,
  group: number,
  half: number,
): V128 {
  return field(f, load(block, at + 32 * (group >> 1) + 16 * half), -4 * (group % 2), 15);
}

/** Low bits of Q2_K and Q3_K: a byte has weights of four groups. */
function pairs(f: FunctionBuilder, block: Pointer, at: number, group: number, half: number): V128 {
  return field(f, load(block, at + 32 * (group >> 2) + 16 * half), -2 * (group % 4), 3);
}

/** The scale of sixteen weights of Q3_K: six bits with 32 added. */
function q3Scale(block: Pointer, index: number): Expression<"i32"> {
  const low = bitsOf(block, 96 + index % 8, 4 * (index >> 3), 15);
  return i32.sub(joined(low, bitsOf(block, 104 + index % 4, 2 * (index >> 2), 3), 4), 32);
}

/** The scale of a group of IQ4_XS: six bits with 32 added. */
function iq4Scale(block: Pointer, index: number): Expression<"i32"> {
  const low = bitsOf(block, 4 + (index >> 1), 4 * (index % 2), 15);
  return i32.sub(joined(low, bitsOf(block, 2 + (index >> 2), 2 * (index % 4), 3), 4), 32);
}

/** Formats of 256 weights whose scales are multiplied by factors of the block. */
export const kQuants: readonly BandFormat[] = [
  {
    source: q2_k,
    bits: 2,
    inSteps: true,
    offset: 0,
    scales: byteScales({
      factors: [80, 82],
      halves: true,
      scale: (block, index) => bitsOf(block, index, 0, 255),
      nibbles: true,
    }),
    codes: (f, block, group, half) => pairs(f, block, 16, group, half),
  },
  {
    source: q3_k,
    bits: 3,
    inSteps: true,
    offset: 4,
    scales: byteScales({ factors: [108], halves: true, scale: q3Scale }),
    codes: (f, block, group, half) =>
      v128.or(
        pairs(f, block, 32, group, half),
        field(f, load(block, 16 * half), 2 - group, 4),
      ),
  },
  {
    source: q4_k,
    bits: 4,
    inSteps: true,
    offset: 0,
    scales: sixBitScales,
    codes: (f, block, group, half) => nibbles(f, block, 16, group, half),
  },
  {
    source: q5_k,
    bits: 5,
    inSteps: true,
    offset: 0,
    scales: sixBitScales,
    codes: (f, block, group, half) =>
      v128.or(
        nibbles(f, block, 48, group, half),
        field(f, load(block, 16 + 16 * half), 4 - group, 16),
      ),
  },
  {
    source: q6_k,
    bits: 6,
    inSteps: true,
    offset: 32,
    scales: byteScales({
      factors: [208],
      halves: true,
      scale: ({ memory, address }, index) => memory.i32.load8_s(address, 192 + index),
    }),
    codes: (f, block, group, half) => {
      const low = load(block, 64 * (group >> 2) + 32 * (group % 2) + 16 * half);
      const high = load(block, 128 + 32 * (group >> 2) + 16 * half);
      return v128.or(
        field(f, low, -4 * (group >> 1 & 1), 15),
        field(f, high, 4 - 2 * (group % 4), 48),
      );
    },
  },
  {
    source: iq4_xs,
    bits: 4,
    ...tabled(iq4Values),
    scales: byteScales({ factors: [0], halves: false, scale: iq4Scale }),
    codes: (f, block, group, half) => field(f, load(block, 8 + 16 * group), -4 * half, 15),
  },
  {
    source: tq2_0,
    bits: 2,
    offset: 1,
    scales: halfScales(64),
    codes: (f, block, group, half) => pairs(f, block, 0, group, half),
  },
];
