// A memory in functions: loads, stores and atomic accesses, under their names in the specification.
// A module may have several memories (multi-memory); each instruction names one.

import { type Code, unsigned } from "./encoding.ts";
import {
  type Expression,
  expressionOf,
  type F32,
  type I32,
  opcode,
  SIMD,
  type Statement,
  type V128,
} from "./expression.ts";

/** Types that are loaded and stored. */
type Stored = "i32" | "f32" | "f64" | "v128";

type Load<T extends Stored> = (address: I32, offset?: number) => Expression<T>;

/** Prefix of atomic instructions. */
const ATOMIC = 0xfe;

/** The memory with a number of its module: an address is in bytes, an offset a constant beside it. */
export class Memory {
  /** Number of the memory within its module. */
  readonly index: number;
  readonly #start: number;

  /** @param start bytes that every offset counts from */
  constructor(index: number, start = 0) {
    this.index = index;
    this.#start = start;
  }

  /** This memory from some bytes further on. */
  behind(bytes: number): Memory {
    return new Memory(this.index, this.#start + bytes);
  }

  /** Loads and stores of 32-bit integers. */
  readonly i32 = {
    load: this.#load("i32", 0x28),
    load8_s: this.#load("i32", 0x2c),
    load8_u: this.#load("i32", 0x2d),
    load16_u: this.#load("i32", 0x2f),
    store: this.#store<I32>("i32", 0x36),
    store8: this.#store<I32>("i32", 0x3a),
    store16: this.#store<I32>("i32", 0x3b),
    atomic: {
      load: this.#load("i32", 0x10, ATOMIC, 2),
      rmw_add: (address: I32, value: I32): Expression<"i32"> => ({
        type: "i32",
        code: [code(address), code(value), this.#access(0x1e, ATOMIC, 2, 0)],
      }),
    },
  };

  /** Loads and stores of floats. */
  readonly f32 = {
    load: this.#load("f32", 0x2a),
    store: this.#store<F32>("f32", 0x38),
  };

  /** Loads and stores of doubles. */
  readonly f64 = {
    load: this.#load("f64", 0x2b),
    store: this.#store<Expression<"f64">>("f64", 0x39),
  };

  /** Loads and stores of vectors. */
  readonly v128 = {
    load: this.#load("v128", 0, SIMD),
    load8x8_s: this.#load("v128", 1, SIMD),
    load8x8_u: this.#load("v128", 2, SIMD),
    load16x4_s: this.#load("v128", 3, SIMD),
    load16x4_u: this.#load("v128", 4, SIMD),
    load8_splat: this.#load("v128", 7, SIMD),
    load16_splat: this.#load("v128", 8, SIMD),
    load32_splat: this.#load("v128", 9, SIMD),
    load64_splat: this.#load("v128", 10, SIMD),
    load32_zero: this.#load("v128", 92, SIMD),
    load64_zero: this.#load("v128", 93, SIMD),
    load16_lane: (address: I32, vector: V128, lane: number, offset = 0): V128 => ({
      type: "v128",
      code: [code(address), vector.code, this.#access(85, SIMD, 0, offset), lane],
    }),
    load32_lane: (address: I32, vector: V128, lane: number, offset = 0): V128 => ({
      type: "v128",
      code: [code(address), vector.code, this.#access(86, SIMD, 0, offset), lane],
    }),
    load64_lane: (address: I32, vector: V128, lane: number, offset = 0): V128 => ({
      type: "v128",
      code: [code(address), vector.code, this.#access(87, SIMD, 0, offset), lane],
    }),
    store: this.#store<V128>("v128", 11, SIMD),
    store64_lane: (address: I32, vector: V128, lane: number, offset = 0): Statement => ({
      code: [code(address), vector.code, this.#access(91, SIMD, 0, offset), lane],
    }),
  };

  /** The alignment of an access: only a hint, so 1; atomic instructions require that of their type. */
  #access(op: number, prefix: number | undefined, alignment: number, offset: number): Code {
    const memory = this.index === 0 ? alignment : [alignment | 0x40, unsigned(this.index)];
    return [opcode(op, prefix), memory, unsigned(this.#start + offset)];
  }

  #load<T extends Stored>(
    type: T,
    op: number,
    prefix?: number,
    alignment = 0,
  ): Load<T> {
    return (address, offset = 0) => ({
      type,
      code: [code(address), this.#access(op, prefix, alignment, offset)],
    });
  }

  #store<V extends I32 | F32 | Expression<"f64"> | V128>(
    type: Stored,
    op: number,
    prefix?: number,
  ): (address: I32, value: V, offset?: number) => Statement {
    return (address, value, offset = 0) => ({
      code: [
        code(address),
        expressionOf(type, value as Expression<typeof type>).code,
        this.#access(op, prefix, 0, offset),
      ],
    });
  }
}

function code(operand: I32): Code {
  return expressionOf("i32", operand).code;
}
