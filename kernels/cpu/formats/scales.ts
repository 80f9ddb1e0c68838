// The layouts of scales: one or two halves per block, bytes with factors of their blocks,
// exponents. Halves stay halves in memory, and are converted to floats by integer arithmetic if
// WebAssembly has no halves. Infinity and NaN are stored as NO_NUMBER, whatever their sign, and
// read as NaN.

import {
  type Expression,
  f32,
  f32x4,
  type FunctionBuilder,
  i16x8,
  type I32,
  i32,
  i32x4,
  i8x16,
  type Local,
  type Memory,
  shuffleLanes,
  type V128,
  v128,
} from "../wasm/mod.ts";
import { convertsHalves } from "../engine_features.ts";
import { BAND, type Pointer, type Quads, type ScaleLayout } from "./format.ts";
import { bytes } from "./codes.ts";

/** The bits of a float that a half's sign, exponent and mantissa become when shifted up by 13. */
export const HALF_BITS = 0x8fffe000;
/** The difference between the exponent biases of a float and a half, as a factor. */
const HALF_UNIT = 2 ** 112;

/** The half that is written for infinity and NaN: positive, so that reading tests only for that. */
export const NO_NUMBER = 0x7e00;
/** The exponent bits of a half that is infinite or NaN. */
const NO_NUMBER_EXPONENT = 0x7c00;
/** The least value of such bits if they are read as a number. */
const NO_NUMBER_FLOAT = 2 ** 16;

/** The float of a half that readHalf() gave. */
export function halfToFloat(f: FunctionBuilder, half: Local<"i32">): Local<"f32"> {
  const bits = i32.and(i32.shl(half, 13), HALF_BITS);
  const float = f.let(f32.mul(f32.reinterpret_i32(bits), HALF_UNIT));
  f.if(i32.eq(half, NO_NUMBER), () => f.set(float, NaN));
  return float;
}

/** A constant with the same 32 bits in all lanes. */
export function lanes(f: FunctionBuilder, lane: Uint32Array | Int32Array | Float32Array): V128 {
  return f.constant(new Uint8Array(16).map((_, i) => new Uint8Array(lane.buffer)[i % 4]));
}

/** Loads four halves for halvesToFloats(): packed if the machine converts packed halves. */
export function loadFourHalves(memory: Memory, address: I32, offset = 0): V128 {
  return convertsHalves()
    ? memory.v128.load64_zero(address, offset)
    : memory.v128.load16x4_s(address, offset);
}

/** Four floats of halves that were loaded by loadFourHalves(). */
export function halvesToFloats(f: FunctionBuilder, halves: V128): V128 {
  return convertsHalves() ? f32x4.promote_low_f16x8(halves) : widenHalves(f, halves);
}

/** Four floats of halves that are given as signed 32-bit lanes. */
function widenHalves(f: FunctionBuilder, halves: V128): V128 {
  const bits = v128.and(i32x4.shl(halves, 13), lanes(f, Uint32Array.of(HALF_BITS)));
  const floats = f.let(f32x4.mul(bits, lanes(f, Float32Array.of(HALF_UNIT))));
  // All bits set is NaN.
  return v128.or(floats, f32x4.ge(floats, lanes(f, Float32Array.of(NO_NUMBER_FLOAT))));
}

/**
 * widenHalves() of halves that may be subnormal, as factors of K-quants often are: to multiply their bits
 * takes Intel's CPUs some 150 cycles. With the bias of floats the bits of a half x are x itself if it is
 * normal, which 2 x - 2^-14 exceeds, and otherwise 2^-15 + x / 2, of which that is less, and right.
 */
function widenSmallHalves(f: FunctionBuilder, halves: V128): V128 {
  const half = f.let(halves);
  const bits = v128.and(i32x4.shl(half, 13), lanes(f, Uint32Array.of(HALF_BITS & 0x7fffffff)));
  const float = f.let(i32x4.add(bits, lanes(f, Uint32Array.of(112 << 23))));
  const least = lanes(f, Float32Array.of(2 ** -14));
  const magnitude = f.let(f32x4.pmin(float, f32x4.sub(f32x4.add(float, float), least)));
  const isNone = f32x4.ge(magnitude, lanes(f, Float32Array.of(NO_NUMBER_FLOAT)));
  const sign = v128.and(half, lanes(f, Uint32Array.of(0x80000000)));
  return v128.or(v128.or(magnitude, sign), isNone);
}

/** A half of a file as a signed integer, with NO_NUMBER for infinity and NaN. */
export function readHalf(
  f: FunctionBuilder,
  { memory, address }: Pointer,
  offset: number,
): Local<"i32"> {
  return signedHalf(f, memory.i32.load16_u(address, offset));
}

/** Like readHalf(), for the bits of a half. */
export function signedHalf(f: FunctionBuilder, bits: Expression<"i32">): Local<"i32"> {
  const half = f.let(i32.shr_s(i32.shl(bits, 16), 16));
  const exponent = i32.and(half, NO_NUMBER_EXPONENT);
  f.if(i32.eq(exponent, NO_NUMBER_EXPONENT), () => f.set(half, NO_NUMBER));
  return half;
}

/** Floats of eight halves that one load has read: a load has a bounds check, which costs three instructions. */
export function eightHalves(f: FunctionBuilder, loaded: V128): Quads {
  const halves = f.let(loaded);
  const high = shuffleLanes(halves, halves, [2, 3, 2, 3]);
  return [f32x4.promote_low_f16x8(halves), f32x4.promote_low_f16x8(high)];
}

/** Writes a half of each of eight blocks side by side, for each of the offsets in them. */
function packHalves(
  f: FunctionBuilder,
  blocks: readonly Pointer[],
  { memory: to, address: head }: Pointer,
  offsets: readonly number[],
): void {
  offsets.forEach((offset, i) => {
    const halves = f.let(v128.const(new Uint8Array(16)));
    blocks.forEach(({ memory, address }, row) =>
      f.set(halves, memory.v128.load16_lane(address, halves, row, offset))
    );
    const exponent = wordLanes(f, NO_NUMBER_EXPONENT);
    const isNoNumber = i16x8.eq(v128.and(halves, exponent), exponent);
    const written = v128.bitselect(wordLanes(f, NO_NUMBER), halves, isNoNumber);
    f.do(to.v128.store(head, written, 2 * BAND * i));
  });
}

/** A constant with the same 16 bits in all lanes. */
function wordLanes(f: FunctionBuilder, word: number): V128 {
  return f.constant(Array.from({ length: 16 }, (_, i) => i % 2 ? word >> 8 : word & 255));
}

/**
 * The columns of eight rows of sixteen bytes, two a vector: eight bytes of an even column, then eight of
 * the odd one.
 */
function byteColumns(f: FunctionBuilder, rows: readonly V128[]): V128[] {
  let vectors = rows;
  // Bytes, then pairs, then words of two neighbours are put side by side.
  for (const width of [1, 2, 4]) {
    const zipped: V128[] = [];
    for (let first = 0; first < 8; first += 2 * width) {
      for (let i = 0; i < width; i++) {
        const [a, b] = [vectors[first + i]!, vectors[first + width + i]!];
        zipped.push(f.let(zip(a, b, width, 0)), f.let(zip(a, b, width, 8)));
      }
    }
    vectors = zipped;
  }
  return [...vectors];
}

/** Eight bytes from `from` on of each of two vectors, some of one and as many of the other in turn. */
function zip(a: V128, b: V128, width: number, from: number): V128 {
  const places = Array.from({ length: 16 }, (_, i) => {
    const pair = Math.floor(i / (2 * width));
    const within = i % (2 * width);
    return from + width * pair + within % width + (within < width ? 0 : 16);
  });
  return i8x16.shuffle(a, b, places);
}

/** Eight halves of a band as floats. V8 joins no conversions of halves, but integer arithmetic. */
function loadHalves(
  f: FunctionBuilder,
  { memory, address }: Pointer,
  offset: number,
  joins: boolean,
): Quads {
  const loaded = memory.v128.load(address, offset);
  if (convertsHalves() && !joins) return eightHalves(f, loaded);
  const halves = f.let(loaded);
  return [
    widenSmallHalves(f, i32x4.extend_low_i16x8_s(halves)),
    widenSmallHalves(f, i32x4.extend_high_i16x8_s(halves)),
  ];
}

/** Scales that are halves, one per block, and maybe a half that is added to scale * code. */
export function halfScales(scale: number, addend?: number): ScaleLayout {
  const fields = addend === undefined ? [scale] : [scale, addend];
  return {
    headBytes: 2 * BAND * fields.length,
    groupBytes: 0,
    halves: false,
    hasMinimum: addend !== undefined,
    packHead: (f, blocks, head) => packHalves(f, blocks, head, fields),
    packGroups() {},
    loadHead(f, head, joins) {
      return fields.flatMap((_, i) => loadHalves(f, head, 2 * BAND * i, joins)).map((quad, i) =>
        f.let(i < 2 ? quad : f32x4.neg(quad))
      );
    },
    load(_f, _from, [s0, s1, m0, m1]) {
      return addend === undefined
        ? { scales: [[s0, s1]] }
        : { scales: [[s0, s1]], minimums: [[m0, m1]] };
    },
  };
}

/** Scales of at most eight bits in a block of 256 weights, which are multiplied by the block's factors. */
export interface ByteScales {
  /** Bytes of the block with the factors of scales and of minimums, halves. */
  readonly factors: readonly number[];
  /** Whether the halves of a group have scales of their own. */
  readonly halves: boolean;
  /** Whether a group has a minimum beside its scale. Then scales are unsigned, otherwise signed. */
  readonly minimums?: boolean;
  /** Whether a byte is a scale in its low nibble and a minimum in the high one. */
  readonly nibbles?: boolean;
  /**
   * The bytes of a block, group by group: the scale, or those of both halves, and the minimum. Two for a
   * group, or one.
   */
  bytes(f: FunctionBuilder, block: Pointer): V128;
}

/** Scales that are bytes, multiplied by the factors of their block. */
export function byteScales(options: ByteScales): ScaleLayout {
  const { factors, halves, minimums = false, nibbles = false } = options;
  const count = halves ? 2 : 1;
  const isUnsigned = minimums || nibbles;
  const groupBytes = BAND * count * (minimums ? 2 : 1);
  return {
    headBytes: 2 * BAND * factors.length,
    groupBytes,
    halves,
    hasMinimum: isUnsigned,
    packHead: (f, blocks, head) => packHalves(f, blocks, head, factors),
    packGroups(f, blocks, { memory, address }, offsets) {
      const rows = blocks.map((block) => f.let(options.bytes(f, block)));
      const pairs = byteColumns(f, rows);
      offsets.forEach((offset, group) =>
        f.do(
          groupBytes === 2 * BAND
            ? memory.v128.store(address, pairs[group]!, offset)
            : memory.v128.store64_lane(address, pairs[group >> 1]!, group % 2, offset),
        )
      );
    },
    loadHead(f, head, joins) {
      return factors.flatMap((_, i) => loadHalves(f, head, 2 * BAND * i, joins))
        .map((quad) => f.let(quad));
    },
    load(f, { memory, address }, head) {
      const read = (k: number, i: number) => {
        const offset = BAND * (count * k + i);
        return isUnsigned
          ? memory.v128.load8x8_u(address, offset)
          : memory.v128.load8x8_s(address, offset);
      };
      const [scales, minimums] = factors.map((_, k) =>
        Array.from({ length: count }, (_, i): Quads => {
          const words = f.let(
            !nibbles
              ? read(k, i)
              : k === 0
              ? v128.and(read(0, i), bytes(f, 15))
              : i16x8.shr_u(read(0, i), 4),
          );
          const low = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(words));
          const high = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(words));
          return [f32x4.mul(low, head[2 * k]), f32x4.mul(high, head[2 * k + 1])];
        })
      );
      return minimums ? { scales, minimums } : { scales };
    },
  };
}

/** Scales that are 8-bit floats, one per block or half of a group: their bits are some of a float's. */
export function floatByteScales(
  options: {
    /** Bits by which the byte is shifted up, and the factor by which the float is then multiplied. */
    shift: number;
    factor: number;
    halves: boolean;
    /** The byte of columns from 16 * index on, or 32 * index where both halves share it. */
    scale(block: Pointer, index: number): Expression<"i32">;
  },
): ScaleLayout {
  const { shift, factor, halves, scale } = options;
  const count = halves ? 2 : 1;
  return {
    headBytes: 0,
    groupBytes: BAND * count,
    halves,
    hasMinimum: false,
    packHead() {},
    packGroups(f, blocks, { memory, address }, offsets) {
      offsets.forEach((offset, group) =>
        blocks.forEach((block, row) => {
          for (let i = 0; i < count; i++) {
            const at = offset + BAND * i + row;
            f.do(memory.i32.store8(address, scale(block, count * group + i), at));
          }
        })
      );
    },
    loadHead: () => [],
    load(f, { memory, address }) {
      const scales = Array.from({ length: count }, (_, i): Quads => {
        const words = f.let(memory.v128.load8x8_u(address, BAND * i));
        const toFloat = (words: V128) =>
          f32x4.mul(i32x4.shl(words, shift), lanes(f, Float32Array.of(factor)));
        return [
          toFloat(i32x4.extend_low_i16x8_u(words)),
          toFloat(i32x4.extend_high_i16x8_u(words)),
        ];
      });
      return { scales };
    },
  };
}
