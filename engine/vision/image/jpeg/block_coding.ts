// How the coefficients of one block are coded: all at once, or, in progressive files, by ranges and
// by bits, the highest first. The format: ITU-T T.81, annexes F.2.2 and G.1.2.

import { ImageError } from "../image.ts";
import type { BitReader, HuffmanTable } from "./bit_reader.ts";
import { BLOCK_LENGTH } from "./frame.ts";

/** The index in a block of each coefficient in the order of the file, low frequencies first. */
export const ZIGZAG = makeZigzag();

/** The part of the coefficients that is in a scan. */
export interface Band {
  /** First and last coefficient. */
  readonly first: number;
  readonly last: number;
  /** The lowest bit that is in the scan. */
  readonly bit: number;
}

/** State that is kept from block to block, for each component of a scan. */
export interface BlockState {
  readonly dcTable: HuffmanTable | undefined;
  readonly acTable: HuffmanTable | undefined;
  /** First coefficient of the previous block. */
  dc: number;
  /** Number of following blocks without data. */
  emptyBlocks: number;
}

/** Decodes a scan's data of the block at an offset. */
export type BlockDecoder = (
  reader: BitReader,
  state: BlockState,
  band: Band,
  coefficients: Int16Array,
  offset: number,
) => void;

/** All coefficients except the first. */
const AC_BAND: Band = { first: 1, last: BLOCK_LENGTH - 1, bit: 0 };

/** Decodes all coefficients of a block. */
export const decodeSequential: BlockDecoder = (reader, state, band, coefficients, offset) => {
  decodeDc(reader, state, band, coefficients, offset);
  decodeAc(reader, state, AC_BAND, coefficients, offset);
};

/** Decodes the first coefficient, which is a difference from that of the previous block. */
export const decodeDc: BlockDecoder = (reader, state, band, coefficients, offset) => {
  state.dc += reader.signed(sizeOf(reader.symbol(present(state.dcTable))));
  coefficients[offset] = state.dc << band.bit;
};

/** Decodes one more bit of the first coefficient. */
export const refineDc: BlockDecoder = (reader, _state, band, coefficients, offset) => {
  coefficients[offset] |= reader.bits(1) << band.bit;
};

/** Decodes the other coefficients, each after the number of zeros before it. */
export const decodeAc: BlockDecoder = (reader, state, band, coefficients, offset) => {
  if (state.emptyBlocks > 0) {
    state.emptyBlocks--;
    return;
  }
  const table = present(state.acTable);
  for (let at = band.first; at <= band.last; at++) {
    const symbol = reader.symbol(table);
    const [zeros, size] = [symbol >> 4, symbol & 15];
    if (size === 0 && zeros < 15) {
      state.emptyBlocks = readRun(reader, zeros) - 1;
      return;
    }
    at += zeros;
    if (at > band.last) throw damaged();
    coefficients[offset + ZIGZAG[at]] = reader.signed(size) << band.bit;
  }
};

/** Decodes one more bit of the other coefficients. For some, it is the first nonzero bit. */
export const refineAc: BlockDecoder = (reader, state, band, coefficients, offset) => {
  const table = present(state.acTable);
  let at = band.first;
  while (at <= band.last && state.emptyBlocks === 0) {
    const symbol = reader.symbol(table);
    const [zeros, size] = [symbol >> 4, symbol & 15];
    if (size === 0 && zeros < 15) {
      state.emptyBlocks = readRun(reader, zeros);
      break;
    }
    // A size of zero means sixteen zeros, of which the last is at the place of the value.
    const value = size === 0 ? 0 : (reader.bits(1) === 1 ? 1 : -1) << band.bit;
    at = refineUntil(reader, band, coefficients, offset, at, zeros);
    if (at <= band.last && value !== 0) coefficients[offset + ZIGZAG[at]] = value;
    at++;
  }
  if (state.emptyBlocks > 0) {
    refineUntil(reader, band, coefficients, offset, at, Infinity);
    state.emptyBlocks--;
  }
};

/**
 * Refines nonzero coefficients from an index on, until after a number of zeros. Returns the next
 * index.
 */
function refineUntil(
  reader: BitReader,
  { last, bit }: Band,
  coefficients: Int16Array,
  offset: number,
  start: number,
  zeros: number,
): number {
  for (let at = start; at <= last; at++) {
    const index = offset + ZIGZAG[at];
    const value = coefficients[index];
    if (value === 0) {
      if (zeros-- === 0) return at;
    } else if (reader.bits(1) === 1 && (value & 1 << bit) === 0) {
      coefficients[index] += Math.sign(value) << bit;
    }
  }
  return last + 1;
}

/** Number of blocks without further data, including this one. */
function readRun(reader: BitReader, size: number): number {
  return (1 << size) + reader.bits(size);
}

/** Number of bits of a difference of first coefficients. */
function sizeOf(symbol: number): number {
  if (symbol > 15) throw damaged();
  return symbol;
}

function present(table: HuffmanTable | undefined): HuffmanTable {
  if (!table) throw damaged();
  return table;
}

function damaged(): ImageError {
  return new ImageError("the JPEG file is damaged: its data is no picture");
}

/** The path through a block along its diagonals, up and down in turn. */
function makeZigzag(): Uint8Array {
  const places = Array.from({ length: BLOCK_LENGTH }, (_, place) => place);
  const keyOf = (place: number) => {
    const [row, column] = [place >> 3, place & 7];
    const diagonal = row + column;
    return diagonal * 8 + (diagonal % 2 === 0 ? column : row);
  };
  return Uint8Array.from(places.sort((a, b) => keyOf(a) - keyOf(b)));
}
