// The sound of a client that is still sending, as it comes: 16-bit PCM at 24 kHz, or G.711 at 8 kHz. A part
// of it becomes a WAV file, which has all of these, so nothing is decoded twice. Pure.

import { HttpError } from "../../errors.ts";

/** How sound comes, by OpenAI's names. */
export type InputFormat = "pcm16" | "g711_ulaw" | "g711_alaw";

/** Facts of a format: its tag in WAV files. */
const FORMATS = {
  pcm16: { tag: 1, bytes: 2, rate: 24_000 },
  g711_alaw: { tag: 6, bytes: 1, rate: 8_000 },
  g711_ulaw: { tag: 7, bytes: 1, rate: 8_000 },
} as const;

/** Most bytes that are kept: eleven minutes of PCM. */
const MOST_BYTES = 32 * 2 ** 20;

/** Bytes of the header of a WAV file. */
const HEADER_BYTES = 44;

/** Sound that was sent. */
export class SoundBuffer {
  readonly #format: typeof FORMATS[InputFormat];
  #bytes = new Uint8Array(2 ** 16);
  #size = 0;
  /** Bytes that were dropped before those that are here. */
  #dropped = 0;

  constructor(readonly name: InputFormat) {
    this.#format = FORMATS[name];
  }

  /** Samples in a second. */
  get rate(): number {
    return this.#format.rate;
  }

  /** Milliseconds of what is here, and up to its end since the beginning. */
  get duration(): number {
    return this.#millisecondsOf(this.#size);
  }
  get end(): number {
    return this.#millisecondsOf(this.#dropped + this.#size);
  }

  /** Adds what came. Errors: HttpError 400 if nothing more can be kept. */
  add(bytes: Uint8Array): void {
    const size = this.#size + bytes.length;
    if (size > MOST_BYTES) {
      throw new HttpError(
        400,
        `the input audio buffer holds at most ${MOST_BYTES} bytes: commit it, or clear it`,
      );
    }
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(2 * size);
      larger.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#size);
    this.#size = size;
  }

  /** Drops what is before a millisecond since the beginning. */
  dropBefore(milliseconds: number): void {
    const count = Math.min(this.#size, this.#bytesBefore(milliseconds));
    this.#bytes.copyWithin(0, count, this.#size);
    this.#size -= count;
    this.#dropped += count;
  }

  /** What is here as a WAV file, of all or from a millisecond since the beginning on. */
  toWav(from = 0): Uint8Array<ArrayBuffer> {
    const { tag, bytes, rate } = this.#format;
    const first = Math.min(this.#size, this.#bytesBefore(from));
    const size = this.#size - first - (this.#size - first) % bytes;
    const file = new Uint8Array(HEADER_BYTES + size);
    const view = new DataView(file.buffer);
    const text = (at: number, value: string) => file.set(new TextEncoder().encode(value), at);
    text(0, "RIFF");
    view.setUint32(4, file.length - 8, true);
    text(8, "WAVEfmt ");
    view.setUint32(16, 16, true);
    view.setUint16(20, tag, true);
    view.setUint16(22, 1, true);
    view.setUint32(24, rate, true);
    view.setUint32(28, rate * bytes, true);
    view.setUint16(32, bytes, true);
    view.setUint16(34, 8 * bytes, true);
    text(36, "data");
    view.setUint32(40, size, true);
    file.set(this.#bytes.subarray(first, first + size), HEADER_BYTES);
    return file;
  }

  /** How loud bytes are, roughly: samples from -1 to 1, for who looks for speech. */
  samplesOf(sent: Uint8Array): Float32Array {
    if (this.name === "pcm16") {
      const view = new DataView(sent.buffer, sent.byteOffset, sent.byteLength);
      return Float32Array.from(
        { length: sent.length >> 1 },
        (_, i) => view.getInt16(2 * i, true) / 2 ** 15,
      );
    }
    // Exponent and mantissa of both laws grow alike with the loudness.
    const mask = this.name === "g711_ulaw" ? 0xff : 0x55;
    return Float32Array.from(sent, (byte) => {
      const code = (byte ^ mask) & 0x7f;
      return ((33 + 2 * (code & 15)) * 2 ** (code >> 4) - 33) / 8031;
    });
  }

  /** Bytes from the first one that is here to a millisecond since the beginning. */
  #bytesBefore(milliseconds: number): number {
    const { bytes, rate } = this.#format;
    return Math.max(0, Math.floor(milliseconds * rate / 1000) * bytes - this.#dropped);
  }

  #millisecondsOf(bytes: number): number {
    return Math.round(1000 * bytes / this.#format.bytes / this.#format.rate);
  }
}
