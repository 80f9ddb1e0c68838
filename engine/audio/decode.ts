// From a file to the samples of one channel at one rate: finds the format by the first bytes, mixes
// the channels to their mean, and resamples, block by block, so that a file of hours never lies in memory
// as it is. Work pauses, and can be cancelled.

import { TimeSlice } from "../async.ts";
import type { Cancellation } from "../cancellation.ts";
import { localFiles } from "../gguf/mod.ts";
import { AudioError, checkLength, LONGEST_SOUND, type SoundReader } from "./audio.ts";
import { openSound } from "./files/formats.ts";
import { SoundInput } from "./input.ts";
import { Resampler } from "./resample.ts";

/** Fewest bytes of a second, by which memory is taken for what a file says of its length. */
const LEAST_BYTES = 500;

/** The options of decodeSound(). */
export interface DecodeOptions {
  /** Rate of the result in Hz. Default 16,000, that of models which hear. */
  readonly rate?: number;
  /** Longest sound, in seconds. Default: four hours. */
  readonly longest?: number;
  /** Cancels the work. */
  readonly signal?: Cancellation | undefined;
}

/**
 * The samples of a sound file, the mean of its channels: from -1 to 1.
 *
 * @param file its bytes, or its path, from which it is read in pieces
 * @throws {AudioError} if the file is damaged, too long, or of a format that is not supported; the
 *   signal's reason
 */
export async function decodeSound(
  file: Uint8Array | string,
  options: DecodeOptions = {},
): Promise<Float32Array<ArrayBuffer>> {
  if (typeof file !== "string") return await decode(new SoundInput(file), options);
  using source = await localFiles.open(file);
  return await decode(new SoundInput(source), options);
}

async function decode(
  input: SoundInput,
  { rate = 16_000, longest = LONGEST_SOUND, signal }: DecodeOptions,
): Promise<Float32Array<ArrayBuffer>> {
  const sound = await openSound(input);
  checkLength(sound.length ?? 0, sound.rate, longest);
  const result = new SampleList(expectedSamples(sound, input.size, rate));
  const resampler = sound.rate === rate ? undefined : new Resampler(sound.rate, rate);
  const slice = new TimeSlice();
  let done = 0;
  for (const block of mixed(sound)) {
    signal?.throwIfAborted();
    checkLength(done += block.length, sound.rate, longest);
    result.add(resampler ? resampler.push(block) : block);
    if (slice.isOver) await slice.pause();
  }
  if (resampler) result.add(resampler.end());
  return result.samples;
}

/** How many samples there will be, as far as the file is as long as it says. */
function expectedSamples(
  { length = 0, rate: from }: SoundReader,
  bytes: number,
  rate: number,
): number {
  const seconds = Math.min(length / from, bytes / LEAST_BYTES);
  return Math.ceil(seconds * rate);
}

/** The mean of the channels, block by block. Errors: AudioError for a sample that is no number. */
function* mixed(sound: SoundReader): Generator<Float32Array, void> {
  for (const block of sound.blocks()) {
    if (!block[0]) {
      yield new Float32Array();
      continue;
    }
    const mean = Float32Array.from(block[0]);
    for (const other of block.slice(1)) {
      for (let i = 0; i < mean.length; i++) mean[i] += other[i];
    }
    let isFinite = true;
    for (let i = 0; i < mean.length; i++) {
      mean[i] /= block.length;
      isFinite &&= Number.isFinite(mean[i]);
    }
    if (!isFinite) {
      throw new AudioError(`samples of the ${sound.format} file are not finite (NaN or infinite)`);
    }
    yield mean;
  }
}

/** A list of samples that grows. */
class SampleList {
  #memory: Float32Array<ArrayBuffer>;
  #length = 0;

  /** @param expected how many samples it will have, if that is known */
  constructor(expected: number) {
    this.#memory = new Float32Array(expected);
  }

  add(samples: Float32Array): void {
    const end = this.#length + samples.length;
    if (end > this.#memory.length) {
      const larger = new Float32Array(Math.max(end, 2 * this.#memory.length));
      larger.set(this.#memory.subarray(0, this.#length));
      this.#memory = larger;
    }
    this.#memory.set(samples, this.#length);
    this.#length = end;
  }

  get samples(): Float32Array<ArrayBuffer> {
    return this.#memory.subarray(0, this.#length);
  }
}
