// Codes of one to eight bits in memory: eight codes in as many bytes as a code has bits. A byte has as many
// whole codes as fit; the bits that are left of some bytes are one more. Codes of six bits are three in a
// byte each, and a fourth in the two bits that are left of each of these. A byte has codes of several
// vectors of a group (format.ts), so that a mask, and maybe a shift, extract a whole vector.

import { type FunctionBuilder, i16x8, i32x4, i8x16, type V128, v128 } from "../wasm/mod.ts";
import { type BandFormat, type Pointer, type Quads } from "./format.ts";

/** Bits of a code in a byte: `width` of them, from bit `to` of the code on. */
interface Piece {
  readonly byte: number;
  /** The first bit in the byte. */
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

/** The pieces of each of eight codes. A code in pieces comes as soon as all of its bytes have been read. */
function piecesOf(bits: number): readonly (readonly Piece[])[] {
  const codes: Piece[][] = [];
  const whole = Math.floor(8 / bits);
  const left = 8 % bits;
  let pieces: Piece[] = [];
  let filled = 0;
  for (let byte = 0; byte < bits; byte++) {
    for (let i = 0; i < whole; i++) codes.push([{ byte, from: bits * i, to: 0, width: bits }]);
    for (let from = bits * whole; from < bits * whole + left;) {
      const width = Math.min(bits - filled, bits * whole + left - from);
      pieces.push({ byte, from, to: filled, width });
      from += width;
      filled += width;
      if (filled < bits) continue;
      codes.push(pieces);
      [pieces, filled] = [[], 0];
    }
  }
  return codes;
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
 * Stores the sixteen vectors of a group: `vectors[2 * step + quad]`. By rows the codes of a byte are of
 * neighbouring vectors. By steps they are of neighbouring steps, whose vectors have all eight rows: the
 * first two columns, then the other two.
 */
export function packCodes(
  f: FunctionBuilder,
  { bits, inSteps }: CodeLayout,
  { memory, address }: Pointer,
  vectors: readonly V128[],
): void {
  const codes = piecesOf(bits);
  const joined = (eight: readonly V128[], byte: number) =>
    codes.flatMap((pieces, code) =>
      pieces.filter((piece) => piece.byte === byte).map(({ from, to, width }) =>
        width === 8 ? eight[code]! : field(f, eight[code]!, from - to, 2 ** width - 1 << from)
      )
    ).reduce((a, b) => v128.or(a, b));
  const quads = (step: number) => [vectors[2 * step]!, vectors[2 * step + 1]!] as const;
  const eights = inSteps
    ? [FIRST!, SECOND!].map((places) =>
      codes.map((_, step) => f.let(i8x16.shuffle(...quads(step), places)))
    )
    : [vectors.slice(0, 8), vectors.slice(8)];
  for (let byte = 0; byte < bits; byte++) {
    eights.forEach((eight, i) =>
      f.do(memory.v128.store(address, joined(eight, byte), placeOf(bits, inSteps, i, byte)))
    );
  }
}

/** Where a vector of bytes is: of the eight codes that are first or second in a group. */
function placeOf(bits: number, inSteps: boolean | undefined, eight: number, byte: number): number {
  return 16 * (inSteps ? 2 * byte + eight : bits * eight + byte);
}

/** How codes lie in memory. */
type CodeLayout = Pick<BandFormat, "bits" | "inSteps">;

/** Reads eight codes in turn, from some vectors for each byte. Codes in pieces are kept, not their bytes. */
function eightCodes(
  f: FunctionBuilder,
  bits: number,
  load: (byte: number) => readonly V128[],
): (code: number) => readonly V128[] {
  const codes = piecesOf(bits);
  const loaded = new Map<number, readonly V128[]>();
  const parts = new Map<number, readonly V128[]>();
  const cut = (vectors: readonly V128[], { from, to, width }: Piece) =>
    width === 8
      ? vectors
      : vectors.map((vector) => field(f, vector, to - from, 2 ** width - 1 << to));
  const take = (byte: number): readonly V128[] => {
    const vectors = loaded.get(byte) ?? load(byte).map((vector) => f.let(vector));
    if (loaded.has(byte)) return vectors;
    loaded.set(byte, vectors);
    codes.forEach((pieces, code) => {
      const piece = pieces.length > 1 && pieces.find((piece) => piece.byte === byte);
      if (!piece) return;
      const before = parts.get(code);
      const own = cut(vectors, piece);
      parts.set(code, own.map((part, i) => f.let(before ? v128.or(before[i]!, part) : part)));
    });
    return vectors;
  };
  return (code) => {
    const [first, ...others] = codes[code]!;
    const vectors = take(first!.byte);
    if (others.length === 0) return cut(vectors, first!);
    for (const { byte } of others) take(byte);
    return parts.get(code)!;
  };
}

/** Reads the two vectors of each step of a group, as variables. Steps have to be read in order. */
export function codeReader(
  f: FunctionBuilder,
  { bits, inSteps = false }: CodeLayout,
  { memory, address }: Pointer,
): (step: number) => Quads {
  const load = (eight: number, byte: number) =>
    memory.v128.load(address, placeOf(bits, inSteps, eight, byte));
  if (inSteps) {
    const read = eightCodes(f, bits, (byte) => unmixed(f, load(0, byte), load(1, byte)));
    return (step) => read(step).map((quad) => f.let(quad));
  }
  const eights = [0, 1].map((eight) => eightCodes(f, bits, (byte) => [load(eight, byte)]));
  return (step) => [0, 1].map((quad) => f.let(eights[step >> 2]!(2 * (step % 4) + quad)[0]!));
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
  const eights = [0, 1].map((eight) =>
    eightCodes(f, bits, (byte) => [memory.v128.load(address, placeOf(bits, true, eight, byte))])
  );
  return (pair) => eights[pair % 2]!(pair >> 1)[0]!;
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
