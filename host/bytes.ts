// What is computed from bytes: checksums, and texts of single-byte characters. Node and Deno have fast
// code for them; elsewhere it is done here.

import { nodeModule } from "./runtime.ts";

/** A SHA-256 (FIPS 180-4) of bytes that come piece by piece. */
export interface Sha256 {
  /** Adds bytes, or a text in UTF-8. */
  update(data: Uint8Array | string): Sha256;
  /** The digest, once, as 32 bytes or in hex. */
  digest(): Uint8Array;
  digest(encoding: "hex"): string;
}

/** A SHA-256 of nothing so far. */
export function sha256(): Sha256 {
  return nodeModule("crypto")?.createHash("sha256") ?? new PlainSha256();
}

/** The CRC-32 of bytes, as PNG and zip have it (ISO 3309). @param before that of the bytes before them */
export function crc32(bytes: Uint8Array, before = 0): number {
  return nodeModule("zlib")?.crc32(bytes, before) ?? plainCrc32(bytes, before);
}

/** Reads bytes from a position up to another as characters of Latin-1, a byte each. */
export type Latin1Reader = (start: number, end: number) => string;

/** The fastest reader of these bytes for short texts. */
export function latin1Reader(bytes: Uint8Array): Latin1Reader {
  const Buffer = nodeModule("buffer")?.Buffer;
  if (!Buffer) return (start, end) => plainLatin1(bytes.subarray(start, end));
  const characters = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return (start, end) => characters.toString("latin1", start, end);
}

/** Most characters that are made by one call, since they are arguments. */
const MOST_ARGUMENTS = 4096;

/** Bytes as characters of Latin-1, where there is no `Buffer`. */
export function plainLatin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += MOST_ARGUMENTS) {
    text += String.fromCharCode(...bytes.subarray(at, at + MOST_ARGUMENTS));
  }
  return text;
}

let crcTable: Uint32Array | undefined;

/**
 * The length of bytes in zlib's format. Deno's CompressionStream ends them with marks that take seven
 * bytes more, which counts where a short text is measured.
 */
export async function deflatedLength(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const zlib = nodeModule("zlib");
  if (zlib) return zlib.deflateSync(bytes).length;
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return (await new Response(compressed).arrayBuffer()).byteLength;
}

/** The CRC-32 of bytes by a table, where there is no zlib. */
export function plainCrc32(bytes: Uint8Array, before = 0): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
    return sum;
  });
  let sum = ~before;
  for (const byte of bytes) sum = crcTable[(sum ^ byte) & 0xff]! ^ (sum >>> 8);
  return ~sum >>> 0;
}

const BLOCK = 64;

/** The first 32 bits of the fractional parts of roots of the first primes. */
function rootBits(count: number, root: (prime: number) => number): Uint32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  return Uint32Array.from(primes, (prime) => root(prime) % 1 * 2 ** 32);
}

let roundConstants: Int32Array | undefined;

/** The digest by the text of the standard. */
export class PlainSha256 implements Sha256 {
  readonly #state = rootBits(8, Math.sqrt);
  readonly #block = new Uint8Array(BLOCK);
  readonly #words = new Int32Array(BLOCK);
  #length = 0;

  update(data: Uint8Array | string): this {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    for (let done = 0; done < bytes.length;) {
      const at = this.#length % BLOCK;
      if (at === 0 && done + BLOCK <= bytes.length) {
        this.#compress(bytes, done);
        this.#length += BLOCK;
        done += BLOCK;
        continue;
      }
      const part = bytes.subarray(done, done + BLOCK - at);
      this.#block.set(part, at);
      this.#length += part.length;
      done += part.length;
      if (this.#length % BLOCK === 0) this.#compress(this.#block, 0);
    }
    return this;
  }

  digest(): Uint8Array;
  digest(encoding: "hex"): string;
  digest(encoding?: "hex"): Uint8Array | string {
    const bits = 8 * this.#length;
    // A one, zeros up to the last eight bytes of a block, and the length in bits.
    const padding = new Uint8Array(BLOCK - (this.#length + 8) % BLOCK + 8);
    padding[0] = 0x80;
    const length = new DataView(padding.buffer, padding.length - 8);
    length.setUint32(0, Math.floor(bits / 2 ** 32));
    length.setUint32(4, bits);
    this.update(padding);
    const digest = new Uint8Array(32);
    const view = new DataView(digest.buffer);
    this.#state.forEach((word, i) => view.setUint32(4 * i, word));
    if (encoding === undefined) return digest;
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** One block. Written out in variables of 32 bits: an array of eight is ten times as slow. */
  #compress(block: Uint8Array, start: number): void {
    const constants = roundConstants ??= new Int32Array(rootBits(BLOCK, Math.cbrt));
    const words = this.#words;
    const state = this.#state;
    for (let t = 0, at = start; t < 16; t++, at += 4) {
      words[t] = (block[at]! << 24) | (block[at + 1]! << 16) | (block[at + 2]! << 8) |
        block[at + 3]!;
    }
    for (let t = 16; t < BLOCK; t++) {
      const early = words[t - 15]!;
      const late = words[t - 2]!;
      const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
      const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
      words[t] = words[t - 16]! + first + words[t - 7]! + second;
    }
    let [a, b, c, d] = [state[0]! | 0, state[1]! | 0, state[2]! | 0, state[3]! | 0];
    let [e, f, g, h] = [state[4]! | 0, state[5]! | 0, state[6]! | 0, state[7]! | 0];
    for (let t = 0; t < BLOCK; t++) {
      const choice = (e & f) ^ (~e & g);
      const high = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const one = (h + high + choice + constants[t]! + words[t]!) | 0;
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const low = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + low + majority) | 0;
    }
    state[0]! += a;
    state[1]! += b;
    state[2]! += c;
    state[3]! += d;
    state[4]! += e;
    state[5]! += f;
    state[6]! += g;
    state[7]! += h;
  }
}

/** A word of 32 bits turned to the right. */
function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
