// Reads numbers from the bytes of a picture, one after the other. Every read that goes beyond the
// end is a file that was cut off, whatever its format.

import { ImageError } from "./image.ts";

/** A position in the bytes of a file, and reads that move it on. */
export class ByteReader {
  /** Of the next byte. */
  position = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #format: string;
  readonly #isLittleEndian: boolean;

  /**
   * Starts at the first byte.
   *
   * @param bytes the whole file
   * @param format its name, for errors
   * @param order of the bytes of a number
   */
  constructor(bytes: Uint8Array, format: string, order: "big-endian" | "little-endian") {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#format = format;
    this.#isLittleEndian = order === "little-endian";
  }

  /** The next byte. */
  uint8(): number {
    return this.#view.getUint8(this.skip(1));
  }

  /** The next two bytes. */
  uint16(): number {
    return this.#view.getUint16(this.skip(2), this.#isLittleEndian);
  }

  /** The next three bytes, the lowest first. */
  uint24(): number {
    return this.uint8() | this.uint8() << 8 | this.uint8() << 16;
  }

  /** The next four bytes. */
  uint32(): number {
    return this.#view.getUint32(this.skip(4), this.#isLittleEndian);
  }

  /** The next four bytes, signed. */
  int32(): number {
    return this.#view.getInt32(this.skip(4), this.#isLittleEndian);
  }

  /** The next four bytes as letters: the name of a chunk. */
  name(): string {
    return String.fromCharCode(...this.take(4));
  }

  /** The next bytes themselves, not copied. */
  take(count: number): Uint8Array {
    const start = this.skip(count);
    return this.#bytes.subarray(start, start + count);
  }

  /** Goes on behind the next byte of that value. */
  skipPast(value: number): void {
    const found = this.#bytes.indexOf(value, this.position);
    this.skip(found < 0 ? Infinity : found + 1 - this.position);
  }

  /** Goes on; returns where it was. Fails if there are not that many bytes. */
  skip(count: number): number {
    const start = this.position;
    if (count < 0 || count > this.#bytes.length - start) {
      throw new ImageError(`the ${this.#format} file is cut off or damaged; send it whole`);
    }
    this.position += count;
    return start;
  }
}
