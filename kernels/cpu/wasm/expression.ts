// Expressions: the instructions that compute one value on WebAssembly's stack. An expression is
// code, not a value: if it is used twice, it is computed twice. A local keeps a value that is
// computed once (FunctionBuilder.let).

import { type Code, float32, float64, signed, unsigned, type ValueType } from "./encoding.ts";

/** Instructions that leave one value of a type on the stack. */
export interface Expression<T extends ValueType = ValueType> {
  readonly type: T;
  readonly code: Code;
}

/** Instructions that leave nothing on the stack. */
export interface Statement {
  readonly code: Code;
}

/** An operand of integers: an expression, or a number that stands for a constant. */
export type I32 = Expression<"i32"> | number;
/** An operand of 64-bit integers. */
export type I64 = Expression<"i64">;
/** An operand of floats. */
export type F32 = Expression<"f32"> | number;
/** An operand of vectors. */
export type V128 = Expression<"v128">;

export type Operand<T extends ValueType> = T extends "i32" ? I32 : T extends "f32" ? F32
: Expression<T>;

/** A constant integer; values from 2^31 to 2^32 - 1 stand for the negative ones of the same bits. */
export function constI32(value: number): Expression<"i32"> {
  return { type: "i32", code: [0x41, signed(value | 0)] };
}

/** A constant float. */
export function constF32(value: number): Expression<"f32"> {
  return { type: "f32", code: [0x43, float32(value)] };
}

/** A constant of 64 bits. */
export function constI64(value: number | bigint): Expression<"i64"> {
  return { type: "i64", code: [0x42, signed(BigInt.asIntN(64, BigInt(value)))] };
}

/** A constant double. */
export function constF64(value: number): Expression<"f64"> {
  return { type: "f64", code: [0x44, float64(value)] };
}

/** The expression that an operand stands for. */
export function expressionOf<T extends ValueType>(
  type: T,
  operand: Expression<T> | number,
): Expression<T> {
  if (typeof operand !== "number") return operand;
  return (type === "f32" ? constF32(operand) : constI32(operand)) as Expression<T>;
}

/** The code of an opcode: one byte, or a prefix and a number. */
export function opcode(code: number, prefix?: number): Code {
  return prefix === undefined ? [code] : [prefix, ...unsigned(code)];
}

/** Prefix of vector instructions. */
export const SIMD = 0xfd;

/** An instruction on one value. */
export function unary<A extends ValueType, R extends ValueType>(
  from: A,
  to: R,
  code: number,
  prefix?: number,
): (a: Operand<A>) => Expression<R> {
  const tail = opcode(code, prefix);
  return (a) => ({ type: to, code: [expressionOf(from, a as Expression<A>).code, tail] });
}

/** An instruction on two values of one type. */
export function binary<A extends ValueType, R extends ValueType>(
  from: A,
  to: R,
  code: number,
  prefix?: number,
): (a: Operand<A>, b: Operand<A>) => Expression<R> {
  const tail = opcode(code, prefix);
  return (a, b) => ({
    type: to,
    code: [
      expressionOf(from, a as Expression<A>).code,
      expressionOf(from, b as Expression<A>).code,
      tail,
    ],
  });
}

/** A vector instruction on one vector. */
export const vector1 = (code: number): (a: V128) => V128 => unary("v128", "v128", code, SIMD);

/** A vector instruction on two vectors. */
export const vector2 = (code: number): (a: V128, b: V128) => V128 =>
  binary("v128", "v128", code, SIMD);

/** A vector instruction on three vectors. */
export function vector3(code: number): (a: V128, b: V128, c: V128) => V128 {
  const tail = opcode(code, SIMD);
  return (a, b, c) => ({ type: "v128", code: [a.code, b.code, c.code, tail] });
}

/** A vector instruction that shifts each lane by the same number of bits. */
export function vectorShift(code: number): (a: V128, bits: I32) => V128 {
  const tail = opcode(code, SIMD);
  return (a, bits) => ({
    type: "v128",
    code: [a.code, expressionOf("i32", bits).code, tail],
  });
}
