// The K-quants and similar formats: 256 weights with half-precision factors, and scales of few bits
// for every 16 or 32; IQ4_XS and TQ2_0. kernels/quants describes their blocks in the file.

import { iq4_xs, q2_k, q3_k, q4_k, q5_k, q6_k, tq2_0 } from "../../quants/k_quants.ts";
import { iq4Values } from "../../quants/code_values.ts";
import { type FunctionBuilder, i16x8, i8x16, type V128, v128 } from "../wasm/mod.ts";
import type { BandFormat, Pointer } from "./format.ts";
import { bytes, field, tabled } from "./codes.ts";
import { byteScales, halfScales } from "./scales.ts";

/** Bytes of a vector, each shifted left (or right, if negative), of which some bits are left. */
function bits(f: FunctionBuilder, vector: V128, shift: number, mask: (byte: number) => number) {
  const moved = shift < 0 ? i16x8.shr_u(vector, -shift) : i16x8.shl(vector, shift);
  const masks = f.constant(Array.from({ length: 16 }, (_, byte) => mask(byte)));
  return v128.and(shift === 0 ? vector : moved, masks);
}

/** The chosen bytes of a vector. */
function chosen(f: FunctionBuilder, vector: V128, place: (byte: number) => number): V128 {
  const places = Array.from({ length: 16 }, (_, byte) => place(byte));
  return f.let(i8x16.shuffle(vector, vector, places));
}

/** Bits 4 and 5 of each byte, from one of the four pairs of bits that it has. */
function highBits(f: FunctionBuilder, vector: V128, pair: (byte: number) => number): V128 {
  return [0, 1, 2, 3]
    .map((of) => bits(f, vector, 4 - 2 * of, (byte) => pair(byte) === of ? 48 : 0))
    .reduce((a, b) => v128.or(a, b));
}

/**
 * The scales and minimums of Q4_K and Q5_K in turn: six bits each, in twelve bytes. The first four bytes
 * are scales 0 to 3, then minimums, with two high bits of those from 4 on; the last four have low bits of
 * those, in nibbles.
 */
function sixBits(f: FunctionBuilder, block: Pointer): V128 {
  const whole = f.let(load(block, 0));
  const isEarly = (byte: number) => byte < 8;
  const first = chosen(f, whole, (byte) => 4 + (byte % 8 >> 1) + 4 * (byte % 2));
  const last = chosen(f, whole, (byte) => 12 + (byte % 8 >> 1));
  return [
    bits(f, first, 0, (byte) => isEarly(byte) ? 63 : 0),
    bits(f, first, -2, (byte) => isEarly(byte) ? 0 : 48),
    bits(f, last, 0, (byte) => isEarly(byte) || byte % 2 === 1 ? 0 : 15),
    bits(f, last, -4, (byte) => isEarly(byte) || byte % 2 === 0 ? 0 : 15),
  ].reduce((a, b) => v128.or(a, b));
}

const sixBitScales = byteScales({
  factors: [0, 2],
  halves: false,
  minimums: true,
  bytes: sixBits,
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

/** The scales of Q3_K: six bits with 32 added, of which nibbles are in eight bytes, and pairs in four. */
function q3Scales(f: FunctionBuilder, block: Pointer): V128 {
  const whole = f.let(load(block, 92));
  const low = chosen(f, whole, (byte) => 4 + byte % 8);
  const high = chosen(f, whole, (byte) => 12 + byte % 4);
  return centred(
    f,
    bits(f, low, 0, (byte) => byte < 8 ? 15 : 0),
    bits(f, low, -4, (byte) => byte < 8 ? 0 : 15),
    highBits(f, high, (byte) => byte >> 2),
  );
}

/** The eight scales of IQ4_XS: six bits with 32 added, of which pairs are in two bytes, and nibbles in four. */
function iq4Scales(f: FunctionBuilder, block: Pointer): V128 {
  const whole = f.let(load(block, 0));
  const low = chosen(f, whole, (byte) => 4 + (byte % 8 >> 1));
  const high = chosen(f, whole, (byte) => 2 + (byte % 8 >> 2));
  return centred(
    f,
    bits(f, low, 0, (byte) => byte % 2 === 0 ? 15 : 0),
    bits(f, low, -4, (byte) => byte % 2 === 0 ? 0 : 15),
    highBits(f, high, (byte) => byte % 4),
  );
}

/** Numbers of six bits from their parts, less 32. */
function centred(f: FunctionBuilder, ...parts: V128[]): V128 {
  return i8x16.sub(parts.reduce((a, b) => v128.or(a, b)), bytes(f, 32));
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
      nibbles: true,
      bytes: (_, block) => load(block, 0),
    }),
    codes: (f, block, group, half) => pairs(f, block, 16, group, half),
  },
  {
    source: q3_k,
    bits: 3,
    inSteps: true,
    offset: 4,
    scales: byteScales({ factors: [108], halves: true, bytes: q3Scales }),
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
      bytes: (_, block) => load(block, 192),
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
    scales: byteScales({ factors: [0], halves: false, bytes: iq4Scales }),
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
