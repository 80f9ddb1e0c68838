// Codes of one to eight bits in memory, as planes of fields of 8, 4, 2 or 1 bits: a code of six
// bits is a nibble in one plane and two bits in another. A byte of a plane has one field of each of
// several vectors of a group (format.ts), so that a shift and a mask extract a whole vector.

import { type FunctionBuilder, i16x8, i8x16, type V128, v128 } from "../wasm/mod.ts";
import { BAND, GROUP, type Place, type Quads } from "./format.ts";

interface Plane {
  /** Bits of a field. */
  readonly width: number;
  /** Its place in the code. */
  readonly shift: number;
  /** Where the plane begins in the group, in bytes. */
  readonly start: number;
}

const WIDTHS = [8, 4, 2, 1];

/** The planes of codes of this number of bits, the widest first. */
function planesOf(bits: number): Plane[] {
  const planes: Plane[] = [];
  let [shift, start] = [0, 0];
  for (const width of WIDTHS) {
    if (!(bits & width)) continue;
    planes.push({ width, shift, start });
    shift += width;
    start += BAND * GROUP * width / 8;
  }
  return planes;
}

/** A vector with the same byte in all lanes. */
export function bytes(f: FunctionBuilder, value: number): V128 {
  return f.constant(new Uint8Array(16).fill(value));
}

/** Each byte shifted left (or right, if negative), and masked so that no bit of a neighbour is left. */
export function field(f: FunctionBuilder, vector: V128, shift: number, mask: number): V128 {
  const moved = shift === 0
    ? vector
    : shift > 0
    ? i16x8.shl(vector, shift)
    : i16x8.shr_u(vector, -shift);
  return v128.and(moved, bytes(f, mask));
}

/** Stores the sixteen vectors of a group: `vectors[2 * step + quad]`. */
export function packCodes(
  f: FunctionBuilder,
  bits: number,
  { memory, address }: Place,
  vectors: readonly V128[],
): void {
  for (const { width, shift, start } of planesOf(bits)) {
    const fields = 8 / width;
    const mask = 2 ** width - 1;
    for (let first = 0; first < vectors.length; first += fields) {
      const parts = vectors.slice(first, first + fields).map((vector, i) =>
        width === 8 ? vector : field(f, vector, width * i - shift, mask << width * i)
      );
      const offset = start + 16 * first / fields;
      f.do(memory.v128.store(address, parts.reduce((a, b) => v128.or(a, b)), offset));
    }
  }
}

/** The two vectors of a step, as variables. */
export function unpackCodes(
  f: FunctionBuilder,
  bits: number,
  { memory, address }: Place,
  step: number,
): Quads {
  const parts: V128[][] = [[], []];
  for (const { width, shift, start } of planesOf(bits)) {
    const fields = 8 / width;
    const mask = 2 ** width - 1;
    const load = (index: number) =>
      memory.v128.load(address, start + 16 * Math.floor(index / fields));
    const shared = fields > 1 ? f.let(load(2 * step)) : undefined;
    for (const quad of [0, 1]) {
      const index = 2 * step + quad;
      const place = width * (index % fields);
      parts[quad].push(
        shared ? field(f, shared, shift - place, mask << shift) : load(index),
      );
    }
  }
  const [first, second] = parts.map((some) => f.let(some.reduce((a, b) => v128.or(a, b))));
  return [first, second];
}

/** Sixteen bytes 255 or 0 for the bits of a 16-bit integer, the lowest first. */
export function spreadBits(f: FunctionBuilder, bits: V128): V128 {
  const each = f.constant(Array.from({ length: 16 }, (_, i) => 1 << i % 8));
  const both = i8x16.shuffle(bits, bits, Array.from({ length: 16 }, (_, i) => i >> 3));
  return i8x16.eq(v128.and(both, each), each);
}

/** The values of codes as bytes: the least value becomes zero, so that all are unsigned. */
export function tabled(values: readonly number[]): { table: readonly number[]; offset: number } {
  const offset = -Math.min(...values);
  return {
    table: Array.from({ length: 16 }, (_, code) => (values[code] ?? -offset) + offset),
    offset,
  };
}
