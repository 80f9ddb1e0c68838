// Log-mel features, as Whisper hears them (Radford et al. 2022): for every hundredth of a second, how
// much power there is in each band of the mel scale. A whole sound has one loudest value, under which
// values are cut off, so it is measured first; frames are computed again when they are wanted, and take
// no memory.

import { TimeSlice } from "../async.ts";
import type { Cancellation } from "../cancellation.ts";
import { hannWindow, melFilters, MelSpectrum } from "./mel_spectrum.ts";

/** Rate of the samples in Hz, and samples of a window and from one frame to the next. */
const [RATE, WINDOW, HOP] = [16_000, 400, 160];

/** Least power, and how far below the loudest value (of the logarithm) others may be. */
const [LEAST_POWER, RANGE] = [1e-10, 8];

/** Frames between two looks at the clock. */
const FRAMES_AT_ONCE = 100;

/** What differs between models that hear like Whisper. */
export interface LogMelOptions {
  /** Samples of silence that follow the sound. Default: none. */
  readonly zeros?: number;
  /** Least power. Default 1e-10. */
  readonly leastPower?: number;
  /** Number of frames. Default: one for every hundredth of a second, and none for its rest. */
  readonly frames?: number;
}

/** The features of a sound. */
export class LogMel {
  readonly frames: number;
  readonly #samples: Float32Array;
  readonly #length: number;
  readonly #spectrum: MelSpectrum;
  readonly #leastPower: number;
  #loudest = -Infinity;

  private constructor(
    samples: Float32Array,
    bins: number,
    { zeros = 0, leastPower = LEAST_POWER, frames }: LogMelOptions,
  ) {
    this.#samples = samples;
    this.#length = samples.length + zeros;
    this.#leastPower = leastPower;
    this.frames = frames ?? Math.floor(this.#length / HOP);
    this.#spectrum = spectrumOf(bins);
  }

  /**
   * Measures a sound. It pauses now and then.
   *
   * @param samples mono, at 16 kHz
   * @param bins bands of the mel scale: 80, or 128 for the largest models
   * @throws the signal's reason
   */
  static async measure(
    samples: Float32Array,
    bins: number,
    { signal, ...options }: LogMelOptions & { signal?: Cancellation | undefined } = {},
  ): Promise<LogMel> {
    const features = new LogMel(samples, bins, options);
    const slice = new TimeSlice();
    for (let first = 0; first < features.frames; first += FRAMES_AT_ONCE) {
      signal?.throwIfAborted();
      const values = features.#logarithms(first, FRAMES_AT_ONCE);
      features.#loudest = values.reduce((most, value) => Math.max(most, value), features.#loudest);
      if (slice.isOver) await slice.pause();
    }
    return features;
  }

  /** The features of `count` frames from `first` on: [count, bins]; zeros behind the last frame. */
  read(first: number, count: number): Float32Array {
    const least = this.#loudest - RANGE;
    const values = new Float32Array(count * this.#spectrum.bins);
    values.set(this.#logarithms(first, count).map((value) => (Math.max(value, least) + 4) / 4));
    return values;
  }

  /** The logarithms of the powers of the frames that there are. */
  #logarithms(first: number, count: number): Float64Array {
    const { bins } = this.#spectrum;
    const there = Math.max(0, Math.min(count, this.frames - first));
    const values = new Float64Array(there * bins);
    for (let frame = 0; frame < there; frame += 2) {
      const powers = this.#spectrum.pair(
        this.#windowOf(first + frame),
        this.#windowOf(first + frame + 1),
      );
      values.set(powers.subarray(0, Math.min(2, there - frame) * bins), frame * bins);
    }
    return values.map((power) => Math.log10(Math.max(power, this.#leastPower)));
  }

  /** The samples of a frame's window, whose middle is the frame's first one; reflected at both ends. */
  #windowOf(frame: number): Float32Array {
    const from = frame * HOP - WINDOW / 2;
    if (from >= 0 && from + WINDOW <= this.#samples.length) {
      return this.#samples.subarray(from, from + WINDOW);
    }
    const last = this.#length - 1;
    return Float32Array.from({ length: WINDOW }, (_, i) => {
      const at = Math.abs(from + i);
      return this.#samples[at > last ? 2 * last - at : at] ?? 0;
    });
  }
}

const known = new Map<number, MelSpectrum>();

function spectrumOf(bins: number): MelSpectrum {
  let spectrum = known.get(bins);
  if (!spectrum) {
    const filters = melFilters({ bins, size: WINDOW, rate: RATE, scale: "slaney" });
    known.set(bins, spectrum = new MelSpectrum({ window: hannWindow(WINDOW), filters }));
  }
  return spectrum;
}
