// Bits of the compressed data of a scan, the highest of a byte first. A byte 0xFF is followed by a
// zero, which is dropped, or by a marker, at which the data ends. The format: ITU-T T.81, annex
// F.2.2.5.

import type { ByteReader } from "../byte_reader.ts";
import { ImageError } from "../image.ts";
import { Marker } from "./segments.ts";

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
  return new ImageError("the JPEG file is damaged: its data ends early, or is no code");
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
