// Codes of one to eight bits in memory, as planes of fields of 8, 4, 2 or 1 bits: a code of six
// bits is a nibble in one plane and two bits in another. A byte of a plane has one field of each of
// several vectors of a group (format.ts), so that a shift and a mask extract a whole vector.

import { type FunctionBuilder, i16x8, i32x4, i8x16, type V128, v128 } from "../wasm/mod.ts";
import { BAND, type BandFormat, GROUP, type Pointer, type Quads } from "./format.ts";

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

/** The places of the first and of the second two columns of each row in two vectors side by side. */
const [FIRST, SECOND] = [0, 2].map((column) =>
  Array.from({ length: 16 }, (_, i) => column + 4 * (i >> 1) + i % 2)
);

/**
 * Stores the sixteen vectors of a group: `vectors[2 * step + quad]`. By rows the fields of a byte are of
 * neighbouring vectors. By steps they are of neighbouring steps, whose vectors have all eight rows: the
 * first two columns, then the other two.
 */
export function packCodes(
  f: FunctionBuilder,
  { bits, inSteps }: CodeLayout,
  { memory, address }: Pointer,
  vectors: readonly V128[],
): void {
  const quads = (step: number) => [vectors[2 * step]!, vectors[2 * step + 1]!] as const;
  const mixed = (step: number) =>
    [FIRST!, SECOND!].map((places) => f.let(i8x16.shuffle(...quads(step), places)));
  for (const { width, shift, start } of planesOf(bits)) {
    const fields = 8 / width;
    const mask = 2 ** width - 1;
    const join = (parts: readonly V128[]) =>
      parts.map((vector, i) =>
        width === 8 ? vector : field(f, vector, width * i - shift, mask << width * i)
      ).reduce((a, b) => v128.or(a, b));
    for (let first = 0; first < vectors.length; first += fields) {
      const offset = start + 16 * first / fields;
      if (!inSteps) {
        f.do(memory.v128.store(address, join(vectors.slice(first, first + fields)), offset));
      } else if (first % (2 * fields) === 0) {
        const steps = Array.from({ length: fields }, (_, i) => mixed(first / 2 + i));
        [0, 1].forEach((pair) =>
          f.do(memory.v128.store(address, join(steps.map((of) => of[pair]!)), offset + 16 * pair))
        );
      }
    }
  }
}

/** How codes lie in planes. */
type CodeLayout = Pick<BandFormat, "bits" | "inSteps">;

/** Reads the two vectors of each step of a group, as variables. Steps have to be read in order. */
export function codeReader(
  f: FunctionBuilder,
  { bits, inSteps = false }: CodeLayout,
  { memory, address }: Pointer,
): (step: number) => Quads {
  const planes = planesOf(bits).map(({ width, shift, start }) => {
    const fields = 8 / width;
    const mask = 2 ** width - 1;
    const load = (index: number) =>
      memory.v128.load(address, start + 16 * Math.floor(index / fields));
    const cut = (vector: V128, index: number) =>
      field(f, vector, shift - width * (index % fields), mask << shift);
    const kept = new Map<number, Quads>();
    return (step: number): readonly V128[] => {
      if (!inSteps) {
        const shared = fields > 1 ? f.let(load(2 * step)) : undefined;
        return [0, 1].map((quad) => shared ? cut(shared, 2 * step + quad) : load(2 * step + quad));
      }
      const run = Math.floor(step / fields);
      let both = kept.get(run);
      if (!both) {
        kept.set(run, both = unmixed(f, load(2 * fields * run), load(2 * fields * run + fields)));
      }
      return both.map((vector) => cut(vector, step));
    };
  });
  return (step) => {
    const parts = planes.map((read) => read(step));
    const [first, second] = [0, 1].map((quad) =>
      f.let(parts.map((part) => part[quad]!).reduce((a, b) => v128.or(a, b)))
    );
    return [first!, second!];
  };
}

/** Both quads of two vectors of pairs of columns. V8 joins these operations into such of 256 bits. */
function unmixed(f: FunctionBuilder, columns: V128, others: V128): Quads {
  const [first, second] = [f.let(columns), f.let(others)];
  return [
    f.let(v128.or(
      i32x4.extend_low_i16x8_u(first),
      i32x4.shl(i32x4.extend_low_i16x8_u(second), 16),
    )),
    f.let(v128.or(
      i32x4.extend_high_i16x8_u(first),
      i32x4.shl(i32x4.extend_high_i16x8_u(second), 16),
    )),
  ];
}

/** Reads the codes of each pair of columns, of all eight rows, as bytes of one vector. For codes by steps. */
export function pairReader(
  f: FunctionBuilder,
  bits: number,
  { memory, address }: Pointer,
): (pair: number) => V128 {
  const planes = planesOf(bits).map(({ width, shift, start }) => {
    const fields = 8 / width;
    const kept = new Map<number, V128>();
    return (pair: number): V128 => {
      const step = pair >> 1;
      const at = start + 16 * (2 * Math.floor(step / fields) + pair % 2);
      let vector = kept.get(at);
      if (!vector) kept.set(at, vector = f.let(memory.v128.load(address, at)));
      if (width === 8) return vector;
      return field(f, vector, shift - width * (step % fields), 2 ** width - 1 << shift);
    };
  });
  return (pair) => planes.map((read) => read(pair)).reduce((a, b) => v128.or(a, b));
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
