// What audio encoders hear: windows of a sound, each a number of frames. Every kind follows the model's own
// preprocessing as llama.cpp computes it (tools/mtmd/mtmd-audio.cpp), with its padding, windows and filters.

import type { Cancellation } from "../cancellation.ts";
import {
  hannWindow,
  LogMel,
  type MelFilter,
  melFilters,
  MelSpectrum,
  spectrogram,
} from "../audio/mod.ts";

/** A part of a sound that is encoded for itself. */
export interface SoundWindow {
  readonly frames: number;
  /** [frames, columns] */
  readonly values: Float32Array;
}

/** How a sound becomes windows. */
export interface SoundFeatures {
  /** Samples in a second. */
  readonly rate: number;
  /** Most frames of a window; Infinity where a sound is one window. */
  readonly most: number;
  /** Frames of each window of a sound, by its number of samples. */
  windows(samples: number): number[];
  /** The windows of a sound. Errors: the signal's reason. */
  read(samples: Float32Array, signal?: Cancellation): Promise<SoundWindow[]>;
}

const RATE = 16_000;

/** Samples from one frame to the next. */
const HOP = 160;

/** Least power of what hears like Whisper, as llama.cpp has it; the original's is 1e-10. */
const LEAST_POWER = 2 ** -24;

/** The sizes of pieces of at most `longest`, into which a length is divided. */
function pieces(length: number, longest: number): number[] {
  const count = Math.max(1, Math.ceil(length / longest));
  return Array.from({ length: count }, (_, i) => Math.min(longest, length - i * longest));
}

/** Half a minute after the other, the last one filled with silence (Radford et al. 2022). */
export function whisperFeatures(bins: number): SoundFeatures {
  const [most, zeros] = [3000, 30 * RATE];
  const countOf = (samples: number) => 1 + Math.floor((Math.floor(samples / HOP) + 1) / most);
  const windows = (samples: number) => new Array<number>(countOf(samples)).fill(most);
  return {
    rate: RATE,
    most,
    windows,
    async read(samples, signal) {
      const frames = Math.floor((samples.length + zeros) / HOP) + 1;
      const options = { zeros, leastPower: LEAST_POWER, frames, signal };
      const features = await LogMel.measure(samples, bins, options);
      return windows(samples.length).map((frames, i) => {
        return { frames, values: features.read(i * most, frames) };
      });
    },
  };
}

/** Windows of at most eight seconds, the last one filled with zeros to whole seconds: Qwen3-Omni's. */
export function secondsFeatures(bins: number): SoundFeatures {
  const [most, unit] = [800, 100];
  const framesOf = (samples: number) => Math.floor(samples / HOP) + 1;
  const windows = (samples: number) =>
    pieces(framesOf(samples), most).map((frames) => Math.ceil(frames / unit) * unit);
  return {
    rate: RATE,
    most,
    windows,
    async read(samples, signal) {
      const options = { leastPower: LEAST_POWER, frames: framesOf(samples.length), signal };
      const features = await LogMel.measure(samples, bins, options);
      return windows(samples.length).map((frames, i) => {
        return { frames, values: features.read(i * most, frames) };
      });
    },
  };
}

/** Minutes, each with a loudest value of its own. */
export function minuteFeatures(bins: number): SoundFeatures {
  const minute = 60 * RATE;
  const framesOf = (samples: number) => Math.max(1, Math.floor(samples / HOP));
  return {
    rate: RATE,
    most: minute / HOP,
    windows: (samples) => pieces(samples, minute).map(framesOf),
    async read(samples, signal) {
      const read: SoundWindow[] = [];
      for (let from = 0; from === 0 || from < samples.length; from += minute) {
        const piece = samples.subarray(from, from + minute);
        const frames = framesOf(piece.length);
        const zeros = piece.length < minute ? 200 : 0;
        const options = { leastPower: LEAST_POWER, frames, zeros, signal };
        const features = await LogMel.measure(piece, bins, options);
        read.push({ frames, values: features.read(0, frames) });
      }
      return read;
    },
  };
}

/** The samples with others before and behind them: zeros, or those next to the ends, mirrored. */
function padded(samples: Float32Array, around: number, how: "zeros" | "mirrored"): Float32Array {
  const all = new Float32Array(samples.length + 2 * around);
  all.set(samples, around);
  if (how === "zeros") return all;
  const last = samples.length - 1;
  for (let i = 1; i <= around; i++) {
    all[around - i] = samples[i] ?? 0;
    all[around + last + i] = samples[last - i] ?? 0;
  }
  return all;
}

/** Pieces of half a minute: logarithms of magnitudes. The transform is longer than its window. */
export function gemmaFeatures(bins: number): SoundFeatures {
  const [piece, size, length] = [30 * RATE, 512, 320];
  const filters = melFilters({ bins, size, rate: RATE, scale: "htk" });
  const spectrum = new MelSpectrum({ window: hannWindow(length, size), filters, magnitudes: true });
  const framesOf = (samples: number) =>
    Math.max(1, Math.floor((samples + length / 2 - length - 1) / HOP) + 1);
  return {
    rate: RATE,
    most: framesOf(piece),
    windows: (samples) => pieces(samples, piece).map(framesOf),
    async read(samples, signal) {
      const read: SoundWindow[] = [];
      for (let from = 0; from === 0 || from < samples.length; from += piece) {
        const own = samples.subarray(from, from + piece);
        const frames = framesOf(own.length);
        const values = await spectrogram(padded(own, length / 2, "zeros"), {
          spectrum,
          hop: HOP,
          frames,
          value: (amount) => Math.log(Math.max(amount, 0.001)),
          signal,
        });
        read.push({ frames, values });
      }
      return read;
    },
  };
}

/** The samples themselves, `size` of them a frame; zeros follow the last one. */
export function sampleFeatures(size: number): SoundFeatures {
  const framesOf = (samples: number) => Math.max(1, Math.ceil(samples / size));
  return {
    rate: RATE,
    most: Infinity,
    windows: (samples) => [framesOf(samples)],
    read(samples) {
      const frames = framesOf(samples.length);
      const values = new Float32Array(frames * size);
      values.set(samples);
      return Promise.resolve([{ frames, values }]);
    },
  };
}

/** What NeMo's models hear: pre-emphasis, and bands that are normalized over the whole sound. */
export interface NemoOptions {
  readonly bins: number;
  /** The window and the filters of the file. Default: von Hann's and Slaney's. */
  readonly window?: Float64Array;
  readonly filters?: readonly MelFilter[];
  readonly value: (power: number) => number;
  /** A value less the mean of its band, given the band's variance. */
  readonly scale: (value: number, variance: number) => number;
  /** Whether the frame behind the last whole one is zero. */
  readonly endsInZeros: boolean;
}

/** A whole sound with NeMo's features (Kuchaiev et al. 2019). */
export function nemoFeatures(options: NemoOptions): SoundFeatures {
  const size = 512;
  const { bins, value, scale, endsInZeros } = options;
  const filters = options.filters ?? melFilters({ bins, size, rate: RATE, scale: "slaney" });
  const window = options.window ?? hannWindow(400, size, 56);
  const spectrum = new MelSpectrum({ window, filters });
  const framesOf = (samples: number) => Math.floor(samples / HOP) + 1;
  return {
    rate: RATE,
    most: Infinity,
    windows: (samples) => [framesOf(samples)],
    async read(samples, signal) {
      const emphasized = samples.map((sample, i) =>
        i === 0 ? sample : sample - 0.97 * samples[i - 1]
      );
      const frames = framesOf(samples.length);
      const around = padded(emphasized, size / 2, "zeros");
      const values = await spectrogram(around, { spectrum, hop: HOP, frames, value, signal });
      const whole = Math.max(1, frames - 1);
      for (let bin = 0; bin < bins; bin++) {
        let sum = 0;
        for (let i = 0; i < whole; i++) sum += values[i * bins + bin];
        const mean = sum / whole;
        let squares = 0;
        for (let i = 0; i < whole; i++) squares += (values[i * bins + bin] - mean) ** 2;
        const variance = squares / Math.max(1, whole - 1);
        for (let i = 0; i < frames; i++) {
          const at = i * bins + bin;
          values[at] = endsInZeros && i >= whole ? 0 : scale(values[at] - mean, variance);
        }
      }
      return [{ frames, values }];
    },
  };
}

/** A whole sound, two frames of which are one: Granite Speech's. @param columns bands of two frames */
export function pairedFeatures(columns: number): SoundFeatures {
  const size = 512;
  const bins = columns / 2;
  const filters = melFilters({ bins, size, rate: RATE, scale: "htk" });
  const spectrum = new MelSpectrum({ window: hannWindow(400, size, 56), filters });
  const framesOf = (samples: number) =>
    Math.max(1, Math.floor((Math.floor(samples / HOP) + 1) / 2));
  return {
    rate: RATE,
    most: Infinity,
    windows: (samples) => [framesOf(samples)],
    async read(samples, signal) {
      const value = (power: number) => Math.log10(Math.max(power, 1e-10));
      // An odd last frame is dropped, after the loudest value was found.
      const all = Math.floor(samples.length / HOP) + 1;
      const around = padded(samples, size / 2, "mirrored");
      const found = await spectrogram(around, { spectrum, hop: HOP, frames: all, value, signal });
      const least = found.reduce((most, value) => Math.max(most, value), -Infinity) - 8;
      const frames = framesOf(samples.length);
      const values = new Float32Array(frames * columns);
      values.set(found.subarray(0, values.length));
      return [{ frames, values: values.map((value) => (Math.max(value, least) + 4) / 4) }];
    },
  };
}

/** A whole sound at 24 kHz: logarithms of magnitudes. */
export function wideFeatures(bins: number): SoundFeatures {
  const [rate, size, hop] = [24_000, 960, 240];
  const filters = melFilters({ bins, size, rate, scale: "htk" });
  const spectrum = new MelSpectrum({ window: hannWindow(size), filters, magnitudes: true });
  const framesOf = (samples: number) => Math.floor(samples / hop) + 1;
  return {
    rate,
    most: Infinity,
    windows: (samples) => [framesOf(samples)],
    async read(samples, signal) {
      const frames = framesOf(samples.length);
      const value = (amount: number) => Math.log(Math.max(amount, 1e-7));
      const around = padded(samples, size / 2, "mirrored");
      const values = await spectrogram(around, { spectrum, hop, frames, value, signal });
      return [{ frames, values }];
    },
  };
}
