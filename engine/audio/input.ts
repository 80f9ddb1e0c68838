// The bytes of a sound file, in memory or on a disk, read in pieces: decoders look at a part at a time, so
// that a file of hours takes no more memory than one of seconds.

import { type ByteSource, fill } from "../gguf/mod.ts";

/** Bytes that are read from a disk at once. */
const PIECE = 256 * 2 ** 10;

/** The bytes of a sound file. */
export class SoundInput {
  /** Number of bytes. */
  readonly size: number;
  readonly #source: ByteSource | undefined;
  /** Bytes from `first` on. */
  #piece: Uint8Array;
  #first = 0;

  /** @param file its bytes, or what reads them, which stays the caller's */
  constructor(file: Uint8Array | ByteSource) {
    const isHere = file instanceof Uint8Array;
    this.size = isHere ? file.length : file.size;
    this.#source = isHere ? undefined : file;
    this.#piece = isHere ? file : new Uint8Array();
  }

  /** `count` bytes from `at` on, or those that there are. They stay as they are. */
  read(at: number, count: number): Uint8Array {
    const end = Math.min(at + count, this.size);
    const isHere = at >= this.#first && end <= this.#first + this.#piece.length;
    if (!isHere && this.#source && at < end) {
      const piece = new Uint8Array(Math.min(Math.max(count, PIECE), this.size - at));
      this.#piece = piece.subarray(0, fill(this.#source, at, piece));
      this.#first = at;
    }
    return this.#piece.subarray(Math.max(0, at - this.#first), Math.max(0, end - this.#first));
  }

  /** The bytes as a view, whose numbers are read by `getUint16` and its like. */
  view(at: number, count: number): DataView {
    const { buffer, byteOffset, byteLength } = this.read(at, count);
    return new DataView(buffer, byteOffset, byteLength);
  }

  /** Bytes as text, one character each. */
  text(at: number, count: number): string {
    return String.fromCharCode(...this.read(at, count));
  }
}
