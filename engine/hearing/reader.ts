// From the bytes of a sound to its part of a prompt: decoded, divided into windows, encoded, with the marks
// of its family around it. Its length alone tells how many tokens that will be. prompt/media_marks.ts
// decides where in the prompt it goes.

import { AudioError, decodeSound } from "../audio/mod.ts";
import { type Between, MediaCache } from "../encoder/mod.ts";
import type { MediaData, PromptMedia, ReadMedia } from "../prompt/mod.ts";
import type { SoundEncoder } from "./encoder.ts";

/** Most bytes of embeddings in the cache. */
const CACHE_BYTES = 64 * 2 ** 20;

/** Longest sound in seconds: an hour, which is more than any window takes. */
const LONGEST = 60 * 60;

/** Fewest samples: a shorter sound is filled with silence, since a convolution needs some frames. */
const LEAST_SAMPLES = 1600;

/** The samples of a sound, and the hash of its file. */
interface DecodedSound {
  readonly hash: string;
  readonly samples: Float32Array;
}

/** Reads the sounds of a model's prompts. */
export class HearingReader {
  readonly #encoder: SoundEncoder;
  readonly #columns: number;
  readonly #between: Between;
  readonly #cache = new MediaCache(CACHE_BYTES);
  /** The sound that was measured last, which is mostly read next. */
  #last: DecodedSound | undefined;

  /**
   * @param columns floats of a row that the decoder takes; those behind an embedding are zero
   * @param between runs work on the device between two steps of the decoder
   */
  constructor(encoder: SoundEncoder, columns: number, between: Between) {
    this.#encoder = encoder;
    this.#columns = columns;
    this.#between = between;
  }

  /**
   * The rows of a sound, without values.
   *
   * @throws {AudioError} if it cannot be read; the signal's reason
   */
  async measure(data: MediaData, signal?: AbortSignal): Promise<ReadMedia> {
    const { samples, hash } = await this.#decode(data, signal);
    const frames = this.#encoder.features.windows(samples.length);
    return this.#describe(hash, frames.map(() => new Float32Array()), frames);
  }

  /**
   * Reads a sound, or takes it from the cache.
   *
   * @param signal ends the caller's wait at once. The work ends between two blocks of the encoder, if
   *   nobody else waits for the same sound
   * @throws {AudioError} if it cannot be read
   */
  async read(data: MediaData, signal?: AbortSignal): Promise<ReadMedia> {
    const decoded = await this.#decode(data, signal);
    return await this.#cache.get(decoded.hash, (signal) => this.#read(decoded, signal), signal);
  }

  async #read({ hash, samples }: DecodedSound, signal: AbortSignal): Promise<ReadMedia> {
    const windows = await this.#encoder.features.read(samples, signal);
    const rows: Float32Array[] = [];
    for (const window of windows) {
      const encode = () => this.#encoder.encode(window, signal);
      rows.push(this.#widen(await this.#between(encode, signal)));
    }
    return this.#describe(hash, rows, windows.map(({ frames }) => frames));
  }

  #describe(
    hash: string,
    embeddings: readonly Float32Array[],
    frames: readonly number[],
  ): ReadMedia {
    const parts = frames.map((count, i): PromptMedia => ({
      key: `${hash} ${i}`,
      tokens: this.#encoder.tokensOf(count),
      embeddings: embeddings[i],
      isCausal: true,
    }));
    const [before, after] = this.#encoder.family.marks;
    return { parts, texts: [before, ...parts.slice(1).map(() => ""), after] };
  }

  /** Rows with zeros for what a decoder adds to images in its layers. */
  #widen(rows: Float32Array): Float32Array {
    const { columns } = this.#encoder;
    if (columns === this.#columns) return rows;
    const all = new Float32Array(rows.length / columns * this.#columns);
    for (let row = 0; row * columns < rows.length; row++) {
      all.set(rows.subarray(row * columns, (row + 1) * columns), row * this.#columns);
    }
    return all;
  }

  async #decode(data: MediaData, signal?: AbortSignal): Promise<DecodedSound> {
    const bytes = bytesOf(data);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    if (this.#last?.hash === hash) return this.#last;
    const { rate } = this.#encoder.features;
    const decoded = await decodeSound(bytes, { rate, longest: LONGEST, signal });
    if (decoded.length === 0) throw new AudioError("it has no samples");
    const samples = new Float32Array(Math.max(LEAST_SAMPLES, decoded.length));
    samples.set(decoded);
    return this.#last = { hash, samples };
  }
}

function bytesOf(data: MediaData): Uint8Array<ArrayBuffer> {
  if (typeof data !== "string") return new Uint8Array(data);
  try {
    return Uint8Array.fromBase64(data);
  } catch {
    throw new AudioError(
      "its text is no base64; send the bytes of a file in base64, no URL or path",
    );
  }
}
