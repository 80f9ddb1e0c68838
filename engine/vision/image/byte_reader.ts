// Reads numbers from the bytes of a picture, one after the other. A read beyond the end means that
// the file was cut off, in any format.

import { ImageError } from "./image.ts";

/** A position in the bytes of a file, and reads that move it on. */
export class ByteReader {
  /** Offset of the next byte. */
  position = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #format: string;
  readonly #isLittleEndian: boolean;

  /**
   * Starts at the first byte.
   *
   * @param bytes the whole file
   * @param format name of the format, for errors
   * @param order byte order of numbers
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

  /** The next three bytes, as a little-endian number. */
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

  /** The next bytes as a view, not a copy. */
  take(count: number): Uint8Array {
    const start = this.skip(count);
    return this.#bytes.subarray(start, start + count);
  }

  /** Moves behind the next byte of that value. */
  skipPast(value: number): void {
    const found = this.#bytes.indexOf(value, this.position);
    this.skip(found < 0 ? Infinity : found + 1 - this.position);
  }

  /** Moves on, and returns the former position. Fails if there are not that many bytes. */
  skip(count: number): number {
    const start = this.position;
    if (count < 0 || count > this.#bytes.length - start) {
      throw new ImageError(`the ${this.#format} file is cut off or damaged; send it whole`);
    }
    this.position += count;
    return start;
  }
}
