// From the spectra of MP3 to samples (ISO/IEC 11172-3, section 2.4.3.4): the order of short windows, the
// butterflies against aliasing, the inverse transform of each subband, and the synthesis of 32 subbands.

import { GRANULE } from "./frame.ts";
import type { ChannelSpectrum } from "./granule.ts";
import { WINDOW } from "./tables.ts";

/** Subbands, and values of each in a granule. */
const [SUBBANDS, SLOTS] = [32, 18];

/** Factors of the butterflies. */
const ALIAS = [-0.6, -0.535, -0.33, -0.185, -0.095, -0.041, -0.0142, -0.0037];
const STAY = ALIAS.map((c) => 1 / Math.sqrt(1 + c * c));
const MOVE = ALIAS.map((c) => c / Math.sqrt(1 + c * c));

/** The inverse transforms: [2 * size, size] cosines. */
const LONG_COSINES = cosinesOf(18);
const SHORT_COSINES = cosinesOf(6);

function cosinesOf(size: number): Float32Array {
  return Float32Array.from({ length: 2 * size * size }, (_, at) => {
    const [i, k] = [Math.floor(at / size), at % size];
    return Math.cos(Math.PI / (4 * size) * (2 * i + 1 + size) * (2 * k + 1));
  });
}

/** The window of each type of block: [36], or [12] of a short one. */
const WINDOWS = [0, 1, 2, 3].map((type) =>
  Float32Array.from({ length: type === 2 ? 12 : 36 }, (_, i) => {
    const slow = Math.sin(Math.PI / 36 * (i + 0.5));
    const fast = (at: number) => Math.sin(Math.PI / 12 * (at + 0.5));
    if (type === 0) return slow;
    if (type === 2) return fast(i);
    const mirrored = type === 1 ? i : 35 - i;
    return mirrored < 18 ? slow : mirrored < 24 ? 1 : mirrored < 30 ? fast(mirrored - 18) : 0;
  })
);

/** Cosines of the synthesis for sums and differences: [16, 16] for even and for odd outputs. */
const EVEN = synthesisCosines(0);
const ODD = synthesisCosines(1);

function synthesisCosines(first: number): Float32Array {
  return Float32Array.from({ length: 256 }, (_, at) => {
    const [m, k] = [2 * Math.floor(at / 16) + first, at % 16];
    return Math.cos(Math.PI / 32 * m * (k + 0.5));
  });
}

/** Makes the samples of one channel. */
export class Synthesis {
  /** The second halves of the last granule's blocks: [subbands, slots]. */
  readonly #overlap = new Float32Array(GRANULE);
  /** The last 16 vectors of 64 values, the latest at `#first`. */
  readonly #vectors = new Float32Array(1024);
  #first = 0;
  readonly #time = new Float32Array(GRANULE);
  readonly #block = new Float32Array(36);
  readonly #subbands = new Float32Array(SUBBANDS);
  readonly #cosines = new Float32Array(SUBBANDS);

  /** The next 576 samples. The spectrum is changed. */
  next(spectrum: ChannelSpectrum): Float32Array {
    const { info: { blockType, isMixed } } = spectrum;
    const values = inOrder(spectrum);
    const usual = isMixed ? 2 : 0;
    reduceAliases(values, blockType === 2 ? usual : SUBBANDS);
    for (let subband = 0; subband < SUBBANDS; subband++) {
      this.#transform(values, subband, subband < usual ? 0 : blockType);
    }
    const samples = new Float32Array(GRANULE);
    for (let slot = 0; slot < SLOTS; slot++) {
      for (let subband = 0; subband < SUBBANDS; subband++) {
        const value = this.#time[SLOTS * subband + slot];
        this.#subbands[subband] = slot & subband & 1 ? -value : value;
      }
      this.#synthesize(samples.subarray(SUBBANDS * slot, SUBBANDS * (slot + 1)));
    }
    return samples;
  }

  /** The inverse transform of a subband, whose block overlaps the last granule's. */
  #transform(values: Float32Array, subband: number, type: number): void {
    const from = SLOTS * subband;
    const block = this.#block.fill(0);
    const window = WINDOWS[type];
    if (type !== 2) {
      for (let i = 0; i < 36; i++) {
        let sum = 0;
        for (let k = 0; k < 18; k++) sum += LONG_COSINES[18 * i + k] * values[from + k];
        block[i] = sum * window[i];
      }
    } else {
      for (let w = 0; w < 3; w++) {
        for (let i = 0; i < 12; i++) {
          let sum = 0;
          for (let k = 0; k < 6; k++) sum += SHORT_COSINES[6 * i + k] * values[from + 3 * k + w];
          block[6 + 6 * w + i] += sum * window[i];
        }
      }
    }
    for (let i = 0; i < SLOTS; i++) {
      this.#time[from + i] = block[i] + this.#overlap[from + i];
      this.#overlap[from + i] = block[SLOTS + i];
    }
  }

  /** 32 samples of one value of each subband. */
  #synthesize(samples: Float32Array): void {
    const [x, vectors] = [this.#subbands, this.#vectors];
    // Cosines m = 0 to 31 give all of the vector's values: cos(pi / 32 * m * (k + 1/2)).
    const cosines = this.#cosines;
    for (let m = 0; m < 16; m++) {
      let [even, odd] = [0, 0];
      for (let k = 0; k < 16; k++) {
        even += EVEN[16 * m + k] * (x[k] + x[31 - k]);
        odd += ODD[16 * m + k] * (x[k] - x[31 - k]);
      }
      cosines[2 * m] = even;
      cosines[2 * m + 1] = odd;
    }
    this.#first = this.#first + 960 & 1023;
    const first = this.#first;
    for (let i = 0; i < 64; i++) {
      const m = i + 16;
      vectors[first + i] = m < 32
        ? cosines[m]
        : m === 32
        ? 0
        : m <= 64
        ? -cosines[64 - m]
        : -cosines[m - 64];
    }
    for (let i = 0; i < 32; i++) {
      let sum = 0;
      for (let k = 0; k < 8; k++) {
        sum += vectors[first + 128 * k + i & 1023] * WINDOW[64 * k + i] +
          vectors[first + 128 * k + 96 + i & 1023] * WINDOW[64 * k + 32 + i];
      }
      samples[i] = sum;
    }
  }
}

/** The values of short windows in turns, as the transforms take them. */
function inOrder({ values, bands, info }: ChannelSpectrum): Float32Array {
  if (info.blockType !== 2) return values;
  const ordered = Float32Array.from(values);
  for (const { from, width, window } of bands) {
    if (window === undefined) continue;
    const begin = from - window * width;
    for (let i = 0; i < width; i++) ordered[begin + 3 * i + window] = values[from + i];
  }
  return ordered;
}

/** Butterflies between long subbands that are neighbours. */
function reduceAliases(values: Float32Array, longSubbands: number): void {
  for (let subband = 1; subband < longSubbands; subband++) {
    for (let i = 0; i < 8; i++) {
      const [low, high] = [SLOTS * subband - 1 - i, SLOTS * subband + i];
      const [a, b] = [values[low], values[high]];
      values[low] = a * STAY[i] - b * MOVE[i];
      values[high] = b * STAY[i] + a * MOVE[i];
    }
  }
}
