// Bits of the compressed data of a scan, the highest of a byte first. A byte 0xFF is followed by a
// zero, which is dropped, or by a marker, at which the data ends. The format: ITU-T T.81, annex
// F.2.2.5.

import { pollCancellation } from "../../../cancellation.ts";
import { ByteReader } from "../byte_reader.ts";
import { ImageError } from "../image.ts";
import { BLOCK_LENGTH, BLOCK_SIDE, type Component, type Frame, Marker } from "./frame.ts";

/** Fill level of the buffer, in bits: 32 less one byte. */
const FILL_BITS = 24;
/** Most zero bits that are appended after the end of the data, as many as fill the buffer. */
const MAX_PADDING_BITS = 64;

/** A reader of bits from a position on. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #position: number;
  /** The last bits from the bytes. The lower `#count` bits are not yet consumed. */
  #buffer = 0;
  #count = 0;
  /** How many of them are beyond the end of the data. */
  #padding = 0;

  /** Starts at a byte of a file. */
  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes;
    this.#position = position;
  }

  /** The next bits as a number: at most 16. */
  bits(count: number): number {
    if (count === 0) return 0;
    if (this.#count < count) this.#fill();
    this.#count -= count;
    return this.#buffer >>> this.#count & (1 << count) - 1;
  }

  /** The next symbol. */
  symbol({ entries }: HuffmanTable): number {
    if (this.#count < 16) this.#fill();
    const entry = entries[this.#buffer >>> this.#count - 16 & 0xffff];
    if (entry === 0) throw damaged();
    this.#count -= entry >> 8;
    return entry & 0xff;
  }

  /** A number in JPEG's format, in which the highest bit is 1 for positive numbers. */
  signed(count: number): number {
    if (count === 0) return 0;
    const value = this.bits(count);
    return value < 1 << count - 1 ? value - (1 << count) + 1 : value;
  }

  /** Skips the restart marker, which has to be there, and continues at the next byte. */
  restart(): void {
    this.finish();
    this.#count = 0;
    this.#padding = 0;
    while (this.#bytes[this.#position] === 0xff && this.#bytes[this.#position + 1] === 0xff) {
      this.#position++;
    }
    const marker = this.#bytes[this.#position + 1];
    if (this.#bytes[this.#position] !== 0xff || marker < Marker.RST0 || marker >= Marker.SOI) {
      throw damaged();
    }
    this.#position += 2;
  }

  /** Fails if more bits were consumed than there were. */
  finish(): void {
    if (this.#count < this.#padding) throw damaged();
  }

  #fill(): void {
    while (this.#count <= FILL_BITS) {
      this.#buffer = this.#buffer << 8 | this.#nextByte();
      this.#count += 8;
    }
  }

  #nextByte(): number {
    const byte = this.#bytes[this.#position];
    if (byte !== 0xff) {
      this.#position++;
      return byte;
    }
    if (this.#bytes[this.#position + 1] === 0) {
      this.#position += 2;
      return byte;
    }
    this.#padding += 8;
    if (this.#padding > MAX_PADDING_BITS) throw damaged();
    return 0;
  }
}

function damaged(): ImageError {
  return new ImageError("the JPEG file is damaged: its data is no picture");
}

const MAX_CODE_BITS = 16;

/** A table of codes. */
export interface HuffmanTable {
  /**
   * Entries for the next 16 bits: length of the code in the upper byte, symbol in the lower one.
   */
  readonly entries: Uint16Array;
}

/** Reads the number of codes of each length, and the symbols by ascending codes. */
export function readHuffmanTable(reader: ByteReader): HuffmanTable {
  const counts = reader.take(MAX_CODE_BITS);
  const entries = new Uint16Array(1 << MAX_CODE_BITS);
  let start = 0;
  for (const [index, count] of counts.entries()) {
    const length = index + 1;
    const span = 1 << MAX_CODE_BITS - length;
    for (const symbol of reader.take(count)) {
      if (start + span > entries.length) {
        throw new ImageError("the JPEG file is damaged: its codes");
      }
      entries.fill(length << 8 | symbol, start, start += span);
    }
  }
  return { entries };
}

// How the coefficients of one block are coded: all at once, or, in progressive files, by ranges and
// by bits, the highest first. The format: ITU-T T.81, annexes F.2.2 and G.1.2.

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
    // A size of zero means sixteen zeros, of which the last is where the value is.
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

/** The path through a block along its diagonals, up and down in turn. */
function makeZigzag(): Uint8Array {
  const indices = Array.from({ length: BLOCK_LENGTH }, (_, index) => index);
  const keyOf = (index: number) => {
    const [row, column] = [index >> 3, index & 7];
    const diagonal = row + column;
    return diagonal * 8 + (diagonal % 2 === 0 ? column : row);
  };
  return Uint8Array.from(indices.sort((a, b) => keyOf(a) - keyOf(b)));
}

// One scan of a JPEG file: its components, the part of their coefficients that it has, and the
// order of their blocks. The format: ITU-T T.81, annexes A.2, B.2.3 and G.1.1.1.

/** The definitions before a scan. */
export interface ScanContext {
  readonly frame: Frame;
  readonly dcTables: readonly HuffmanTable[];
  readonly acTables: readonly HuffmanTable[];
  /** Units from one restart marker to the next; 0 if there are none. */
  readonly restartInterval: number;
}

interface ScanComponent {
  readonly component: Component;
  readonly state: BlockState;
}

/**
 * Reads a scan into the coefficients of its components.
 *
 * @param bytes the whole file
 * @param header the data of the segment that starts the scan
 * @param start offset of the compressed data in the file
 * @param context the definitions before the scan
 */
export function readScan(
  bytes: Uint8Array,
  header: Uint8Array,
  start: number,
  context: ScanContext,
): void {
  const { frame } = context;
  const fields = new ByteReader(header, "JPEG", "big-endian");
  const components = Array.from(
    { length: fields.uint8() },
    () => readComponent(fields, context),
  );
  const [first, last, bits] = [fields.uint8(), fields.uint8(), fields.uint8()];
  const band = { first, last, bit: frame.isProgressive ? bits & 15 : 0 };
  const isRefined = bits >> 4 !== 0;
  if (components.length === 0 || frame.isProgressive && !isAllowed(band, components.length)) {
    throw new ImageError("the JPEG file is damaged: a scan is of no known kind");
  }
  const decode = frame.isProgressive ? progressiveDecoder(band, isRefined) : decodeSequential;
  decodeUnits(new BitReader(bytes, start), components, context, decode, band);
}

/** A component that a scan names, with its tables. */
function readComponent(
  fields: ByteReader,
  { frame, dcTables, acTables }: ScanContext,
): ScanComponent {
  const id = fields.uint8();
  const tables = fields.uint8();
  const component = frame.components.find((one) => one.id === id);
  if (!component) throw new ImageError("the JPEG file is damaged: a scan has no known component");
  const [dcTable, acTable] = [dcTables[tables >> 4], acTables[tables & 15]];
  return { component, state: { dcTable, acTable, dc: 0, emptyBlocks: 0 } };
}

/**
 * Whether a progressive scan has either a range of one component, or the first coefficients of any.
 */
function isAllowed({ first, last }: Band, components: number): boolean {
  if (first === 0) return last === 0;
  return components === 1 && first <= last && last < BLOCK_LENGTH;
}

function progressiveDecoder({ first }: Band, isRefined: boolean): BlockDecoder {
  if (first === 0) return isRefined ? refineDc : decodeDc;
  return isRefined ? refineAc : decodeAc;
}

/**
 * Decodes the units of a scan. A scan of one component has its blocks as units, without the fill
 * blocks.
 */
function decodeUnits(
  reader: BitReader,
  components: readonly ScanComponent[],
  { frame, restartInterval }: ScanContext,
  decode: BlockDecoder,
  band: Band,
): void {
  const [{ component: only }] = components;
  const isSingle = components.length === 1;
  const columns = isSingle ? Math.ceil(only.width / BLOCK_SIDE) : frame.unitColumns;
  const rows = isSingle ? Math.ceil(only.height / BLOCK_SIDE) : frame.unitRows;
  for (let unit = 0; unit < columns * rows; unit++) {
    if (restartInterval > 0 && unit > 0 && unit % restartInterval === 0) {
      reader.restart();
      for (const { state } of components) Object.assign(state, { dc: 0, emptyBlocks: 0 });
    }
    const row = Math.floor(unit / columns);
    const column = unit - row * columns;
    if (column === 0) pollCancellation();
    for (const { component, state } of components) {
      const across = isSingle ? 1 : component.horizontal;
      const down = isSingle ? 1 : component.vertical;
      for (let y = row * down; y < (row + 1) * down; y++) {
        for (let x = column * across; x < (column + 1) * across; x++) {
          const offset = (y * component.columns + x) * BLOCK_LENGTH;
          decode(reader, state, band, component.coefficients, offset);
        }
      }
    }
  }
  reader.finish();
}
