// How much there is of a sound in each band of the mel scale, window by window: the discrete Fourier
// transform of samples times a window, and triangular filters over its powers or magnitudes. The filters
// are Slaney's (Auditory Toolbox 1998), each with an area of one, or HTK's (Young et al. 2006), each of
// height one.

import { TimeSlice } from "../async.ts";
import type { Cancellation } from "../cancellation.ts";
import { FourierTransform } from "./fourier.ts";

/** The weights of neighbouring frequencies. */
export interface MelFilter {
  /** Number of the first frequency. */
  readonly from: number;
  readonly weights: Float64Array;
}

/** What a spectrum is made of. */
export interface MelSpectrumOptions {
  /** The factor of each sample of a window, whose length is that of the transform. */
  readonly window: Float64Array;
  readonly filters: readonly MelFilter[];
  /** Whether magnitudes are filtered. Default: their squares, powers. */
  readonly magnitudes?: boolean;
}

/** Amounts in the bands of the mel scale. */
export class MelSpectrum {
  readonly bins: number;
  readonly size: number;
  readonly #fourier: FourierTransform;
  readonly #options: MelSpectrumOptions;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  readonly #amounts: Float64Array;

  constructor(options: MelSpectrumOptions) {
    this.#options = options;
    this.size = options.window.length;
    this.bins = options.filters.length;
    this.#fourier = new FourierTransform(this.size);
    this.#real = new Float64Array(this.size);
    this.#imaginary = new Float64Array(this.size);
    this.#amounts = new Float64Array(2 * this.bins);
  }

  /** The amounts of two windows of samples: [2, bins]. The result is overwritten by the next call. */
  pair(first: Float32Array, second: Float32Array): Float64Array {
    // Two real windows are one complex vector, so they are transformed at once.
    const { window, filters, magnitudes = false } = this.#options;
    const [real, imaginary, size] = [this.#real, this.#imaginary, this.size];
    for (let i = 0; i < size; i++) {
      real[i] = window[i] * first[i];
      imaginary[i] = window[i] * second[i];
    }
    this.#fourier.transform(real, imaginary);
    const amounts = this.#amounts.fill(0);
    for (const [bin, { from, weights }] of filters.entries()) {
      for (let i = 0; i < weights.length; i++) {
        const [at, mirrored] = [from + i, (size - from - i) % size];
        const [a, b, c, d] = [real[at], imaginary[at], real[mirrored], imaginary[mirrored]];
        const one = ((a + c) ** 2 + (b - d) ** 2) / 4;
        const other = ((b + d) ** 2 + (c - a) ** 2) / 4;
        amounts[bin] += weights[i] * (magnitudes ? Math.sqrt(one) : one);
        amounts[this.bins + bin] += weights[i] * (magnitudes ? Math.sqrt(other) : other);
      }
    }
    return amounts;
  }
}

/** The periodic window of von Hann, of `length` samples, `at` samples behind the beginning of `size`. */
export function hannWindow(length: number, size = length, at = 0): Float64Array {
  const window = new Float64Array(size);
  for (let i = 0; i < length; i++) window[at + i] = 0.5 - 0.5 * Math.cos(2 * Math.PI * i / length);
  return window;
}

/** A scale of pitch: from hertz, and back. */
interface Scale {
  readonly of: (hertz: number) => number;
  readonly hertz: (mel: number) => number;
}

const SCALES: Readonly<Record<"slaney" | "htk", Scale>> = {
  // Linear up to 1,000 Hz, which are 15 mel, and logarithmic above.
  slaney: {
    of: (hertz) =>
      hertz < 1000 ? 3 * hertz / 200 : 15 + 27 * Math.log(hertz / 1000) / Math.log(6.4),
    hertz: (mel) => mel < 15 ? 200 * mel / 3 : 1000 * 6.4 ** ((mel - 15) / 27),
  },
  htk: {
    of: (hertz) => 2595 * Math.log10(1 + hertz / 700),
    hertz: (mel) => 700 * (10 ** (mel / 2595) - 1),
  },
};

/** The filters of a scale. */
export interface MelFilterOptions {
  readonly bins: number;
  /** Length of the transform, and samples in a second. */
  readonly size: number;
  readonly rate: number;
  readonly scale: keyof typeof SCALES;
}

/** Triangles whose corners are evenly apart on the scale from 0 Hz to half the rate. */
export function melFilters({ bins, size, rate, scale }: MelFilterOptions): MelFilter[] {
  const { of, hertz } = SCALES[scale];
  const most = of(rate / 2);
  const corners = Array.from({ length: bins + 2 }, (_, i) => hertz(most * i / (bins + 1)));
  return Array.from({ length: bins }, (_, bin) => {
    const [left, middle, right] = corners.slice(bin, bin + 3);
    const area = scale === "slaney" ? 2 / (right - left) : 1;
    return sparse(Float64Array.from({ length: size / 2 + 1 }, (_, i) => {
      const at = i * rate / size;
      return Math.max(0, Math.min((at - left) / (middle - left), (right - at) / (right - middle))) *
        area;
    }));
  });
}

/** The filter with these weights for all frequencies. */
export function sparse(all: Float64Array): MelFilter {
  const from = Math.max(0, all.findIndex((weight) => weight > 0));
  const end = all.findLastIndex((weight) => weight > 0) + 1;
  return { from, weights: all.slice(from, end) };
}

/** The frames of a spectrogram. */
export interface SpectrogramOptions {
  readonly spectrum: MelSpectrum;
  /** Samples from one frame to the next. */
  readonly hop: number;
  readonly frames: number;
  /** The value of an amount, such as its logarithm. */
  readonly value: (amount: number) => number;
  readonly signal?: Cancellation | undefined;
}

/** Frames between two looks at the clock. */
const FRAMES_AT_ONCE = 64;

/**
 * The values of frames, the first of which begins with the first sample; zeros follow the last one:
 * [frames, bins]. It pauses now and then. Errors: the signal's reason.
 */
export async function spectrogram(
  samples: Float32Array,
  { spectrum, hop, frames, value, signal }: SpectrogramOptions,
): Promise<Float32Array> {
  const { bins, size } = spectrum;
  const values = new Float32Array(frames * bins);
  const windowOf = (frame: number): Float32Array => {
    const window = samples.subarray(frame * hop, frame * hop + size);
    if (window.length === size) return window;
    const padded = new Float32Array(size);
    padded.set(window);
    return padded;
  };
  const slice = new TimeSlice();
  for (let frame = 0; frame < frames; frame += 2) {
    const amounts = spectrum.pair(windowOf(frame), windowOf(frame + 1));
    const count = Math.min(2, frames - frame) * bins;
    for (let i = 0; i < count; i++) values[frame * bins + i] = value(amounts[i]);
    if (frame % FRAMES_AT_ONCE > 0 || !slice.isOver) continue;
    signal?.throwIfAborted();
    await slice.pause();
  }
  return values;
}
