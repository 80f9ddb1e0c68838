// Bits of the compressed data of a scan, the highest of a byte first. A byte of ones is followed by a
// zero, which is dropped, or by a marker, at which the data ends.
// The format: ITU-T T.81, annex F.2.2.5.

import { ImageError } from "../image.ts";
import type { HuffmanTable } from "./huffman.ts";
import { Marker } from "./segments.ts";

/** As many bits as fit a buffer beside the longest code. */
const FILL_BITS = 24;
/** Zeros that stand for what comes after the end, at most: as many as the buffer is filled with. */
const MAX_PADDING_BITS = 64;

/** Reads bits from a position on. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #position: number;
  /** The last bits that were read from the bytes; the lower `#count` are still to be given out. */
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

  /** A number whose sign is that of its highest bit: ones for what is positive. */
  signed(count: number): number {
    if (count === 0) return 0;
    const value = this.bits(count);
    return value < 1 << count - 1 ? value - (1 << count) + 1 : value;
  }

  /** Passes over the restart marker, which has to be there, to the next byte. */
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

  /** Fails if more was read than there was. */
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
