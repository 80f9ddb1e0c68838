// Bits of a file: the highest of a byte first, as FLAC and MP3 have them, or the lowest, as Vorbis has.

import { AudioError } from "../audio.ts";

/** Reads bits one after the other. All methods throw AudioError at the end of the file. */
export class BitReader {
  readonly #bytes: Uint8Array;
  readonly #end: string;
  /** The byte that is taken next into the cache. */
  #next = 0;
  /** Up to 32 bits that were taken but not read, from the highest bit on; zeros behind them. */
  #cache = 0;
  /** How many bits the cache has. */
  #count = 0;

  /** @param end what is so where the bytes end, as words of an AudioError */
  constructor(bytes: Uint8Array, end: string) {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** Index of the byte of the next bit. */
  get at(): number {
    return this.#next - (this.#count >> 3);
  }

  /** Index of the next bit. */
  get position(): number {
    return 8 * this.#next - this.#count;
  }

  /** Goes to a bit. */
  seek(position: number): void {
    this.#next = position >> 3;
    this.#cache = this.#count = 0;
    this.unsigned(position & 7);
  }

  /** A number of up to 32 bits. */
  unsigned(bits: number): number {
    if (bits > 24) return this.unsigned(bits - 16) * 2 ** 16 + this.unsigned(16);
    if (bits === 0) return 0;
    if (this.#count < bits) this.#fill(bits);
    const value = this.#cache >>> 32 - bits;
    this.#cache <<= bits;
    this.#count -= bits;
    return value;
  }

  /** A number of up to 33 bits in two's complement. */
  signed(bits: number): number {
    if (bits === 0) return 0;
    const sign = this.unsigned(1);
    return this.unsigned(bits - 1) - sign * 2 ** (bits - 1);
  }

  /** The number of zeros before the next one, which is read, too. */
  zeros(): number {
    let zeros = 0;
    while (this.#cache === 0) {
      zeros += this.#count;
      this.#count = 0;
      this.#fill(1);
    }
    const more = Math.clz32(this.#cache);
    this.#cache = more === 31 ? 0 : this.#cache << more + 1;
    this.#count -= more + 1;
    return zeros + more;
  }

  /** Goes on to the next whole byte. */
  align(): void {
    this.unsigned(this.#count % 8);
  }

  #fill(needed: number): void {
    while (this.#count <= 24 && this.#next < this.#bytes.length) {
      this.#cache |= this.#bytes[this.#next++] << 24 - this.#count;
      this.#count += 8;
    }
    if (this.#count >= needed) return;
    throw new AudioError(this.#end);
  }
}

/** Reads bits one after the other, the lowest of a byte first. Behind the last byte there are zeros. */
export class LowBitReader {
  readonly #bytes: Uint8Array;
  #next = 0;
  #cache = 0;
  #count = 0;
  #isOver = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Whether more bits were read than there are. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** A number of up to 32 bits. */
  unsigned(bits: number): number {
    if (bits > 16) return this.unsigned(16) + this.unsigned(bits - 16) * 2 ** 16;
    const value = this.peek(bits);
    this.skip(bits);
    return value;
  }

  /** The next number of up to 24 bits, which stay to be read. */
  peek(bits: number): number {
    while (this.#count < bits) {
      this.#cache |= (this.#bytes[this.#next++] ?? 0) << this.#count;
      this.#count += 8;
    }
    return this.#cache & (1 << bits) - 1;
  }

  /** Leaves out bits that were seen by `peek`. */
  skip(bits: number): void {
    this.#cache >>>= bits;
    this.#count -= bits;
    if (this.#next - (this.#count >> 3) > this.#bytes.length) this.#isOver = true;
  }
}
