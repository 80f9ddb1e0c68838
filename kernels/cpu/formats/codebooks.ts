// The formats whose codes are numbers of codebook vectors, IQ1 to IQ3, and TQ1_0, whose bytes hold
// five digits in base 3. Rows of a band stay as they are in the file, block by block, and are
// decoded row by row for products. kernels/quants describes their blocks.

import {
  iq1_m,
  iq1_s,
  iq2_s,
  iq2_xs,
  iq2_xxs,
  iq3_s,
  iq3_xxs,
  tq1_0,
} from "../../quants/codebooks.ts";
import {
  iq1Vectors,
  iq2sVectors,
  iq2xsVectors,
  iq2xxsVectors,
  iq3sVectors,
  iq3xxsVectors,
} from "../../quants/code_values.ts";
import {
  type Expression,
  f32,
  type FunctionBuilder,
  i16x8,
  i32,
  i64,
  i8x16,
  type Local,
  type V128,
  v128,
} from "../wasm/mod.ts";
import type { DecodedRow, Pointer, RowFormat } from "./format.ts";
import { bytes, spreadBits } from "./codes.ts";
import { halfToFloat, readHalf, signedHalf } from "./scales.ts";

type Integer = Expression<"i32">;

/** A row's block, and the group of it that is wanted. */
interface Row {
  readonly block: Pointer;
  readonly group: Local<"i32">;
}

/** An unsigned number of the block, `step` bytes further for each group. */
function read({ block: { memory, address }, group }: Row, size: 1 | 2, at: number, step: number) {
  const place = i32.add(address, i32.mul(group, step));
  return size === 1 ? memory.i32.load8_u(place, at) : memory.i32.load16_u(place, at);
}

function bits(number: Integer, shift: number | Integer, mask: number): Integer {
  return i32.and(i32.shr_u(number, shift), mask);
}

/** `factor` times (2 * step + 1), under the half at byte `at`. */
function stepped(f: FunctionBuilder, { block }: Row, at: number, factor: number) {
  const d = f.let(f32.mul(halfToFloat(f, readHalf(f, block, at)), factor));
  return (step: Integer) => f32.mul(d, f32.convert_i32_s(i32.add(i32.shl(step, 1), 1)));
}

/** The sign bits of two vectors of which the file has seven each: an even number is set. */
function completeSigns(f: FunctionBuilder, first: Integer, second: Integer): Integer {
  const [low, high] = [first, second].map((seven) => {
    const own = f.let(seven);
    return i32.or(own, i32.shl(i32.and(i32.popcnt(own), 1), 7));
  });
  return i32.or(low, i32.shl(high, 8));
}

/** Sixteen components of vectors, made unsigned, negative before where a bit is set. */
function signed(f: FunctionBuilder, vector: V128, signs: Integer, offset: number): V128 {
  const negative = f.let(spreadBits(f, i16x8.splat(signs)));
  return i8x16.add(i8x16.sub(v128.xor(vector, negative), negative), bytes(f, offset));
}

/** What a format says of a group, for halves of sixteen columns. */
interface Codebook {
  readonly source: RowFormat["source"];
  readonly vectors: Int8Array<ArrayBuffer>;
  /** Components of a vector. */
  readonly dimension: 4 | 8;
  /** Whether halves have scales of their own. */
  readonly halves: boolean;
  /** Numbers of the vectors of a group, and for each half the signs and a scale. */
  group(f: FunctionBuilder, row: Row): {
    number(index: number): Integer;
    signs(half: number): Integer;
    scale(half: number): Expression<"f32">;
  };
}

/** Vectors with signs. */
function signedCodebook(codebook: Codebook): RowFormat {
  const { source, vectors, dimension, halves, group } = codebook;
  const offset = vectors.reduce((most, value) => Math.max(most, value));
  return {
    source,
    offset,
    maximum: 2 * offset,
    scales: { halves, hasMinimum: false },
    table: vectors,
    decode(f, block, number, table) {
      const own = group(f, { block, group: number });
      const codes = [0, 1].map((half) =>
        f.let(signed(f, looked(f, table, dimension, half, own.number), own.signs(half), offset))
      );
      const scales = (halves ? [0, 1] : [0]).map(own.scale);
      return { codes: [codes[0]!, codes[1]!], scales };
    },
  };
}

/** The vectors of a half of a group, side by side. */
function looked(
  f: FunctionBuilder,
  { memory, address }: Pointer,
  dimension: 4 | 8,
  half: number,
  number: (index: number) => Integer,
): V128 {
  const count = 16 / dimension;
  const place = (i: number) => i32.add(address, i32.mul(number(count * half + i), dimension));
  const { load32_zero, load64_zero, load32_lane, load64_lane } = memory.v128;
  const vector = f.let((dimension === 4 ? load32_zero : load64_zero)(place(0)));
  for (let i = 1; i < count; i++) {
    f.set(vector, (dimension === 4 ? load32_lane : load64_lane)(place(i), vector, i));
  }
  return vector;
}

/** Vectors of -1, 0 and 1 with an eighth more or less: eight times that are whole numbers. */
function ternaryCodebook(
  source: RowFormat["source"],
  halves: boolean,
  group: (f: FunctionBuilder, row: Row) => {
    number(index: number): Integer;
    /** 1 where an eighth is subtracted. */
    isLess(index: number): Integer;
    scale(half: number): Expression<"f32">;
  },
): RowFormat {
  const offset = 9;
  return {
    source,
    offset,
    maximum: 2 * offset,
    scales: { halves, hasMinimum: false },
    table: iq1Vectors.map((value) => 8 * value),
    decode(f, block, number, table) {
      const own = group(f, { block, group: number });
      const codes = [0, 1].map((half) => {
        const [low, high] = [0, 1].map((i) =>
          i8x16.splat(i32.sub(offset + 1, i32.shl(own.isLess(2 * half + i), 1)))
        );
        const lower = f.constant(Array.from({ length: 16 }, (_, i) => i < 8 ? 255 : 0));
        const added = v128.bitselect(low, high, lower);
        return f.let(i8x16.add(looked(f, table, 8, half, own.number), added));
      });
      const scales = (halves ? [0, 1] : [0]).map(own.scale);
      return { codes: [codes[0]!, codes[1]!], scales };
    },
  };
}

/** Powers of 3, a byte each. */
const POWERS = 0x51_1b_09_03_01n;

/** The digits of sixteen bytes: with 3^n as powers, digit n. */
function digits(f: FunctionBuilder, vector: V128, powers: readonly V128[]): V128 {
  const [low, high] = [
    i16x8.extend_low_i8x16_u(vector),
    i16x8.extend_high_i8x16_u(vector),
  ].map((words, i) => {
    const fraction = v128.and(
      i16x8.mul(words, powers[i]!),
      f.constant(Array.from({ length: 16 }, (_, i) => i % 2 ? 0 : 255)),
    );
    return i16x8.shr_u(i16x8.mul(fraction, i16x8.splat(i32.const(3))), 8);
  });
  return i8x16.narrow_i16x8_s(low!, high!);
}

/** Powers of 3 for 16-bit lanes, four lanes each. */
function powersFrom(f: FunctionBuilder, first: number): V128 {
  const words = Uint16Array.from({ length: 8 }, (_, i) => 3 ** (first + (i >> 2)));
  return f.constant(new Uint8Array(words.buffer));
}

function decodeTernary(f: FunctionBuilder, block: Pointer, group: Local<"i32">): DecodedRow {
  const { memory, address } = block;
  const codes = [0, 1].map((half) => {
    const at = f.let(i32.add(address, 16 * half));
    const digit = f.let(group);
    f.if(i32.ge_u(group, 5), () => {
      f.set(at, i32.add(address, 32));
      f.set(digit, i32.add(i32.shl(i32.sub(group, 5), 1), half));
    });
    const code = f.local("v128");
    f.if(i32.lt_u(digit, 5), () => {
      const shifted = i64.shr_u(i64.const(POWERS), i64.extend_i32_u(i32.shl(digit, 3)));
      const power = f.let(i16x8.splat(i32.and(i32.wrap_i64(shifted), 255)));
      f.set(code, digits(f, f.let(memory.v128.load(at)), [power, power]));
    }, () => {
      const powers = [powersFrom(f, 0), powersFrom(f, 2)];
      f.set(code, digits(f, f.let(memory.v128.load32_splat(address, 48)), powers));
    });
    return code;
  });
  const scale = halfToFloat(f, readHalf(f, block, 52));
  return { codes: [codes[0]!, codes[1]!], scales: [scale] };
}

/** IQ2_XXS and IQ3_XXS: seven signs of each eight columns and the scale in a word. */
function packedSigns(f: FunctionBuilder, word: Integer) {
  const packed = f.let(word);
  return {
    step: i32.shr_u(packed, 28),
    signs: (half: number) =>
      completeSigns(f, bits(packed, 14 * half, 127), bits(packed, 14 * half + 7, 127)),
  };
}

/** All of them. */
export const rowFormats: readonly RowFormat[] = [
  signedCodebook({
    source: iq2_xxs,
    vectors: iq2xxsVectors,
    dimension: 8,
    halves: false,
    group(f, row) {
      const place = i32.add(row.block.address, i32.shl(row.group, 3));
      const { step, signs } = packedSigns(f, row.block.memory.i32.load(place, 6));
      const scaled = stepped(f, row, 0, 1 / 8);
      return { number: (i) => read(row, 1, 2 + i, 8), signs, scale: () => scaled(step) };
    },
  }),
  signedCodebook({
    source: iq2_xs,
    vectors: iq2xsVectors,
    dimension: 8,
    halves: true,
    group(f, row) {
      const packed = [0, 1, 2, 3].map((i) => f.let(read(row, 2, 2 + 2 * i, 8)));
      const scaled = stepped(f, row, 0, 1 / 8);
      return {
        number: (i) => i32.and(packed[i]!, 511),
        signs: (half) =>
          completeSigns(f, i32.shr_u(packed[2 * half]!, 9), i32.shr_u(packed[2 * half + 1]!, 9)),
        scale: (half) => scaled(bits(read(row, 1, 66, 1), 4 * half, 15)),
      };
    },
  }),
  signedCodebook({
    source: iq2_s,
    vectors: iq2sVectors,
    dimension: 8,
    halves: true,
    group(f, row) {
      const high = f.let(read(row, 1, 66, 1));
      const scaled = stepped(f, row, 0, 1 / 8);
      return {
        number: (i) => i32.or(read(row, 1, 2 + i, 4), i32.shl(bits(high, 2 * i, 3), 8)),
        signs: (half) => read(row, 2, 34 + 2 * half, 4),
        scale: (half) => scaled(bits(read(row, 1, 74, 1), 4 * half, 15)),
      };
    },
  }),
  signedCodebook({
    source: iq3_xxs,
    vectors: iq3xxsVectors,
    dimension: 4,
    halves: false,
    group(f, row) {
      const place = i32.add(row.block.address, i32.shl(row.group, 2));
      const { step, signs } = packedSigns(f, row.block.memory.i32.load(place, 66));
      const scaled = stepped(f, row, 0, 1 / 4);
      return { number: (i) => read(row, 1, 2 + i, 8), signs, scale: () => scaled(step) };
    },
  }),
  signedCodebook({
    source: iq3_s,
    vectors: iq3sVectors,
    dimension: 4,
    halves: false,
    group(f, row) {
      const { block: { memory, address }, group } = row;
      const high = f.let(read(row, 1, 66, 1));
      const scaled = stepped(f, row, 0, 1);
      const steps = memory.i32.load8_u(i32.add(address, i32.shr_u(group, 1)), 106);
      return {
        number: (i) => i32.or(read(row, 1, 2 + i, 8), i32.shl(bits(high, i, 1), 8)),
        signs: (half) => read(row, 2, 74 + 2 * half, 4),
        scale: () => scaled(bits(steps, i32.shl(i32.and(group, 1), 2), 15)),
      };
    },
  }),
  ternaryCodebook(iq1_s, false, (f, row) => {
    const header = f.let(read(row, 2, 34, 2));
    const scaled = stepped(f, row, 0, 1 / 8);
    return {
      number: (i) => i32.or(read(row, 1, 2 + i, 4), i32.shl(bits(header, 3 * i, 7), 8)),
      isLess: () => i32.shr_u(header, 15),
      scale: () => scaled(bits(header, 12, 7)),
    };
  }),
  ternaryCodebook(iq1_m, true, (f, row) => {
    const { block: { memory, address }, group } = row;
    const header = f.let(read(row, 2, 32, 2));
    const nibble = (i: number) =>
      i32.shl(bits(memory.i32.load8_u(address, 49 + 2 * i), 4, 15), 4 * i);
    const d = floatOfNibbles(f, [0, 1, 2, 3].map(nibble));
    const steps = f.let(memory.i32.load16_u(i32.add(address, i32.and(group, 6)), 48));
    const shift = f.let(i32.mul(i32.and(group, 1), 6));
    return {
      number: (i) => i32.or(read(row, 1, i, 4), i32.shl(bits(header, 4 * i, 7), 8)),
      isLess: (i) => bits(header, 4 * i + 3, 1),
      scale: (half) => {
        const step = bits(steps, i32.add(shift, 3 * half), 7);
        return f32.mul(d, f32.convert_i32_s(i32.add(i32.shl(step, 1), 1)));
      },
    };
  }),
  {
    source: tq1_0,
    offset: 1,
    maximum: 2,
    scales: { halves: false, hasMinimum: false },
    decode: decodeTernary,
  },
];

/** An eighth of the half whose nibbles these are. */
function floatOfNibbles(f: FunctionBuilder, nibbles: readonly Integer[]): Local<"f32"> {
  const half = f.let(nibbles.reduce((a, b) => i32.or(a, b)));
  return f.let(f32.mul(halfToFloat(f, signedHalf(f, half)), 1 / 8));
}
