// WebAssembly's instructions on numbers and vectors, under their names in the specification, as
// functions from operands to expressions. Only those that kernels use are listed. Opcodes:
// https://webassembly.github.io/spec/core/appendix/index-instructions.html

import {
  binary,
  constF32,
  constF64,
  constI32,
  constI64,
  type Expression,
  SIMD,
  unary,
  type V128,
  vector1,
  vector2,
  vector3,
  vectorShift,
} from "./expression.ts";

/** 32-bit integers. */
export const i32 = {
  const: constI32,
  eqz: unary("i32", "i32", 0x45),
  eq: binary("i32", "i32", 0x46),
  ne: binary("i32", "i32", 0x47),
  lt_s: binary("i32", "i32", 0x48),
  lt_u: binary("i32", "i32", 0x49),
  gt_s: binary("i32", "i32", 0x4a),
  gt_u: binary("i32", "i32", 0x4b),
  le_u: binary("i32", "i32", 0x4d),
  ge_s: binary("i32", "i32", 0x4e),
  ge_u: binary("i32", "i32", 0x4f),
  popcnt: unary("i32", "i32", 0x69),
  add: binary("i32", "i32", 0x6a),
  sub: binary("i32", "i32", 0x6b),
  mul: binary("i32", "i32", 0x6c),
  div_u: binary("i32", "i32", 0x6e),
  rem_u: binary("i32", "i32", 0x70),
  and: binary("i32", "i32", 0x71),
  or: binary("i32", "i32", 0x72),
  xor: binary("i32", "i32", 0x73),
  shl: binary("i32", "i32", 0x74),
  shr_s: binary("i32", "i32", 0x75),
  shr_u: binary("i32", "i32", 0x76),
  trunc_sat_f32_s: unary("f32", "i32", 0x00, 0xfc),
  reinterpret_f32: unary("f32", "i32", 0xbc),
  wrap_i64: unary("i64", "i32", 0xa7),
};

/** 64-bit integers. */
export const i64 = {
  const: constI64,
  add: binary("i64", "i64", 0x7c),
  sub: binary("i64", "i64", 0x7d),
  mul: binary("i64", "i64", 0x7e),
  and: binary("i64", "i64", 0x83),
  or: binary("i64", "i64", 0x84),
  shr_u: binary("i64", "i64", 0x88),
  extend_i32_u: unary("i32", "i64", 0xad),
  reinterpret_f64: unary("f64", "i64", 0xbd),
};

/** Floats. */
export const f32 = {
  const: constF32,
  eq: binary("f32", "i32", 0x5b),
  ne: binary("f32", "i32", 0x5c),
  lt: binary("f32", "i32", 0x5d),
  gt: binary("f32", "i32", 0x5e),
  ge: binary("f32", "i32", 0x60),
  abs: unary("f32", "f32", 0x8b),
  neg: unary("f32", "f32", 0x8c),
  nearest: unary("f32", "f32", 0x90),
  sqrt: unary("f32", "f32", 0x91),
  add: binary("f32", "f32", 0x92),
  sub: binary("f32", "f32", 0x93),
  mul: binary("f32", "f32", 0x94),
  div: binary("f32", "f32", 0x95),
  min: binary("f32", "f32", 0x96),
  max: binary("f32", "f32", 0x97),
  convert_i32_s: unary("i32", "f32", 0xb2),
  reinterpret_i32: unary("i32", "f32", 0xbe),
  demote_f64: unary("f64", "f32", 0xb6),
};

/** Doubles. */
export const f64 = {
  const: constF64,
  eq: binary("f64", "i32", 0x61),
  lt: binary("f64", "i32", 0x63),
  gt: binary("f64", "i32", 0x64),
  ge: binary("f64", "i32", 0x66),
  neg: unary("f64", "f64", 0x9a),
  sqrt: unary("f64", "f64", 0x9f),
  add: binary("f64", "f64", 0xa0),
  sub: binary("f64", "f64", 0xa1),
  mul: binary("f64", "f64", 0xa2),
  div: binary("f64", "f64", 0xa3),
  min: binary("f64", "f64", 0xa4),
  max: binary("f64", "f64", 0xa5),
  convert_i32_s: unary("i32", "f64", 0xb7),
  convert_i32_u: unary("i32", "f64", 0xb8),
  promote_f32: unary("f32", "f64", 0xbb),
  reinterpret_i64: unary("i64", "f64", 0xbf),
};

/** Vectors of 128 bits, whatever their lanes are. */
export const v128 = {
  /** A constant of sixteen bytes. */
  const: (bytes: ArrayLike<number>): V128 => ({
    type: "v128",
    code: [SIMD, 12, Uint8Array.from(bytes)],
  }),
  not: vector1(77),
  and: vector2(78),
  andnot: vector2(79),
  or: vector2(80),
  xor: vector2(81),
  bitselect: vector3(82),
  any_true: unary("v128", "i32", 83, SIMD),
};

/** Lanes of bytes. */
export const i8x16 = {
  /** Bytes chosen from both operands by index: 0 to 15 from `a`, 16 to 31 from `b`. */
  shuffle: (a: V128, b: V128, places: readonly number[]): V128 => ({
    type: "v128",
    code: [a.code, b.code, SIMD, 13, places],
  }),
  splat: unary("i32", "v128", 15, SIMD),
  swizzle: vector2(14),
  relaxed_swizzle: vector2(0x100),
  eq: vector2(35),
  lt_s: vector2(37),
  abs: vector1(96),
  neg: vector1(97),
  narrow_i16x8_s: vector2(101),
  narrow_i16x8_u: vector2(102),
  shl: vectorShift(107),
  shr_u: vectorShift(109),
  add: vector2(110),
  sub: vector2(113),
};

/** Lanes of 16-bit integers. */
export const i16x8 = {
  splat: unary("i32", "v128", 16, SIMD),
  extend_low_i8x16_s: vector1(135),
  extend_high_i8x16_s: vector1(136),
  extend_low_i8x16_u: vector1(137),
  extend_high_i8x16_u: vector1(138),
  narrow_i32x4_s: vector2(133),
  shl: vectorShift(139),
  shr_s: vectorShift(140),
  shr_u: vectorShift(141),
  add: vector2(142),
  sub: vector2(145),
  mul: vector2(149),
  eq: vector2(45),
  min_s: vector2(150),
  max_s: vector2(152),
  /** Sums of pairs of products, signed bytes times bytes of 7 bits; see dot_product.ts. */
  relaxed_dot_i8x16_i7x16_s: vector2(0x112),
};

/** Lanes of 32-bit integers. */
export const i32x4 = {
  splat: unary("i32", "v128", 17, SIMD),
  extract_lane: (a: V128, lane: number): Expression<"i32"> => ({
    type: "i32",
    code: [a.code, SIMD, 27, lane],
  }),
  eq: vector2(55),
  lt_s: vector2(57),
  gt_s: vector2(59),
  extadd_pairwise_i16x8_s: vector1(126),
  extadd_pairwise_i16x8_u: vector1(127),
  bitmask: unary("v128", "i32", 164, SIMD),
  extend_low_i16x8_s: vector1(167),
  extend_high_i16x8_s: vector1(168),
  extend_low_i16x8_u: vector1(169),
  extend_high_i16x8_u: vector1(170),
  shl: vectorShift(171),
  shr_s: vectorShift(172),
  shr_u: vectorShift(173),
  add: vector2(174),
  sub: vector2(177),
  mul: vector2(181),
  min_s: vector2(182),
  max_s: vector2(184),
  /** Sums of pairs of products of 16-bit integers. */
  dot_i16x8_s: vector2(186),
  trunc_sat_f32x4_s: vector1(248),
  /** Sums of four products, signed bytes times bytes of 7 bits, and a third operand. */
  relaxed_dot_i8x16_i7x16_add_s: vector3(0x113),
};

/** Lanes of floats. */
export const f32x4 = {
  splat: unary("f32", "v128", 19, SIMD),
  extract_lane: (a: V128, lane: number): Expression<"f32"> => ({
    type: "f32",
    code: [a.code, SIMD, 31, lane],
  }),
  eq: vector2(65),
  lt: vector2(67),
  gt: vector2(68),
  le: vector2(69),
  ge: vector2(70),
  nearest: vector1(106),
  abs: vector1(224),
  neg: vector1(225),
  sqrt: vector1(227),
  add: vector2(228),
  sub: vector2(229),
  mul: vector2(230),
  div: vector2(231),
  min: vector2(232),
  max: vector2(233),
  /** The lesser one: b < a ? b : a. Unlike min and max, these are one instruction on x86. */
  pmin: vector2(234),
  /** The greater one: a < b ? b : a. */
  pmax: vector2(235),
  convert_i32x4_s: vector1(250),
  /** a * b + c, rounded once or twice as the engine likes. */
  relaxed_madd: vector3(0x105),
  /** c - a * b, rounded once or twice as the engine likes. */
  relaxed_nmadd: vector3(0x106),
  /** Four floats of the four low halves, by the proposal for half precision. */
  promote_low_f16x8: vector1(0x14b),
};

/** Four lanes of 32 bits out of those of two vectors: 0 to 3 in `a`, 4 to 7 in `b`. */
export function shuffleLanes(a: V128, b: V128, lanes: readonly number[]): V128 {
  const places: number[] = [];
  for (const lane of lanes) places.push(4 * lane, 4 * lane + 1, 4 * lane + 2, 4 * lane + 3);
  return i8x16.shuffle(a, b, places);
}
