// Log-mel features, as Whisper hears them (Radford et al. 2022): for every hundredth of a second, how
// much power there is in each band of the mel scale. The filters are Slaney's (Auditory Toolbox 1998),
// each with an area of one. A whole sound has one loudest value, under which values are cut off, so it
// is measured first; frames are computed again when they are wanted, and take no memory.

import { TimeSlice } from "../async.ts";
import type { Cancellation } from "../cancellation.ts";
import { FourierTransform } from "./fourier.ts";

/** Rate of the samples in Hz, and samples of a window and from one frame to the next. */
const [RATE, WINDOW, HOP] = [16_000, 400, 160];

/** Least power, and how far below the loudest value (of the logarithm) others may be. */
const [LEAST_POWER, RANGE] = [1e-10, 8];

/** Frames between two looks at the clock. */
const FRAMES_AT_ONCE = 100;

/** The features of a sound. */
export class LogMel {
  /** Number of frames: one for every hundredth of a second. */
  readonly frames: number;
  readonly #samples: Float32Array;
  readonly #length: number;
  readonly #spectra: MelSpectra;
  #loudest = -Infinity;

  private constructor(samples: Float32Array, bins: number, zeros: number) {
    this.#samples = samples;
    this.#length = samples.length + zeros;
    this.frames = Math.floor(this.#length / HOP);
    this.#spectra = spectraOf(bins);
  }

  /**
   * Measures a sound. It pauses now and then.
   *
   * @param samples mono, at 16 kHz
   * @param bins bands of the mel scale: 80, or 128 for the largest models
   * @param zeros samples of silence that follow the sound
   * @throws the signal's reason
   */
  static async measure(
    samples: Float32Array,
    bins: number,
    { zeros = 0, signal }: { zeros?: number; signal?: Cancellation | undefined } = {},
  ): Promise<LogMel> {
    const features = new LogMel(samples, bins, zeros);
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
    const values = new Float32Array(count * this.#spectra.bins);
    values.set(this.#logarithms(first, count).map((value) => (Math.max(value, least) + 4) / 4));
    return values;
  }

  /** The logarithms of the powers of the frames that there are. */
  #logarithms(first: number, count: number): Float64Array {
    const { bins } = this.#spectra;
    const there = Math.max(0, Math.min(count, this.frames - first));
    const values = new Float64Array(there * bins);
    // Two real windows are one complex vector, so frames are transformed in pairs.
    for (let frame = 0; frame < there; frame += 2) {
      const powers = this.#spectra.pair(
        this.#windowOf(first + frame),
        this.#windowOf(first + frame + 1),
      );
      values.set(powers.subarray(0, Math.min(2, there - frame) * bins), frame * bins);
    }
    return values.map((power) => Math.log10(Math.max(power, LEAST_POWER)));
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

/** Powers in the bands of the mel scale. */
class MelSpectra {
  readonly #fourier = new FourierTransform(WINDOW);
  readonly #window = Float64Array.from(
    { length: WINDOW },
    (_, i) => 0.5 - 0.5 * Math.cos(2 * Math.PI * i / WINDOW),
  );
  readonly #filters: readonly MelFilter[];
  readonly #real = new Float64Array(WINDOW);
  readonly #imaginary = new Float64Array(WINDOW);
  readonly #powers: Float64Array;

  constructor(readonly bins: number) {
    this.#filters = slaneyFilters(bins);
    this.#powers = new Float64Array(2 * bins);
  }

  /** The powers of two windows: [2, bins]. The result is overwritten by the next call. */
  pair(first: Float32Array, second: Float32Array): Float64Array {
    const [real, imaginary] = [this.#real, this.#imaginary];
    for (let i = 0; i < WINDOW; i++) {
      real[i] = this.#window[i] * first[i];
      imaginary[i] = this.#window[i] * second[i];
    }
    this.#fourier.transform(real, imaginary);
    const powers = this.#powers.fill(0);
    for (const [bin, { from, weights }] of this.#filters.entries()) {
      for (let i = 0; i < weights.length; i++) {
        const [at, mirrored] = [from + i, (WINDOW - from - i) % WINDOW];
        const [a, b, c, d] = [real[at], imaginary[at], real[mirrored], imaginary[mirrored]];
        powers[bin] += weights[i] * ((a + c) ** 2 + (b - d) ** 2) / 4;
        powers[this.bins + bin] += weights[i] * ((b + d) ** 2 + (c - a) ** 2) / 4;
      }
    }
    return powers;
  }
}

const known = new Map<number, MelSpectra>();

function spectraOf(bins: number): MelSpectra {
  if (!known.has(bins)) known.set(bins, new MelSpectra(bins));
  return known.get(bins)!;
}

/** The weights of neighbouring frequencies. */
interface MelFilter {
  readonly from: number;
  readonly weights: Float64Array;
}

/** Triangles whose corners are evenly apart on the mel scale from 0 Hz to half the rate. */
function slaneyFilters(bins: number): MelFilter[] {
  const most = melOf(RATE / 2);
  const corners = Array.from({ length: bins + 2 }, (_, i) => hertzOf(most * i / (bins + 1)));
  return Array.from({ length: bins }, (_, bin) => {
    const [left, middle, right] = corners.slice(bin, bin + 3);
    const all = Float64Array.from({ length: WINDOW / 2 + 1 }, (_, i) => {
      const hertz = i * RATE / WINDOW;
      const height = Math.min((hertz - left) / (middle - left), (right - hertz) / (right - middle));
      return Math.max(0, height) * 2 / (right - left);
    });
    const from = Math.max(0, all.findIndex((weight) => weight > 0));
    const end = all.findLastIndex((weight) => weight > 0) + 1;
    return { from, weights: all.slice(from, end) };
  });
}

/** Slaney's mel scale is linear up to 1,000 Hz, which are 15 mel, and logarithmic above. */
function melOf(hertz: number): number {
  return hertz < 1000 ? 3 * hertz / 200 : 15 + 27 * Math.log(hertz / 1000) / Math.log(6.4);
}

function hertzOf(mel: number): number {
  return mel < 15 ? 200 * mel / 3 : 1000 * 6.4 ** ((mel - 15) / 27);
}
