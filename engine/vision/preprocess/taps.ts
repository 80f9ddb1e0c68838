// Filter taps for resampling one dimension: which pixels make up a resampled pixel, and with which
// weights. The definition: Pillow, src/libImaging/Resample.c (precompute_coeffs,
// normalize_coeffs_8bpc).

/** Fractional bits of a weight: 32, less 8 for the byte, less 2 for overshoots of sums. */
export const PRECISION_BITS = 22;

/** The resampling filters. */
export type Filter = "bilinear" | "bicubic" | "lanczos";

/** For each pixel of the result, the pixels of the source that make it up. */
export interface Taps {
  /** Entries in `weights` for each pixel. */
  readonly size: number;
  /** First pixel of the source: [pixels]. */
  readonly starts: Int32Array;
  /** Number of pixels of the source: [pixels]. */
  readonly counts: Int32Array;
  /** In units of 2 to the power of -PRECISION_BITS: [pixels, size]. */
  readonly weights: Int32Array;
}

interface Kernel {
  /** Distance from which on all weights are zero. */
  readonly support: number;
  /** The weight at a distance, which may be negative. */
  weigh(distance: number): number;
}

const KERNELS: Record<Filter, Kernel> = {
  bilinear: { support: 1, weigh: (distance) => Math.max(0, 1 - Math.abs(distance)) },
  bicubic: { support: 2, weigh: weighBicubic },
  lanczos: { support: 3, weigh: weighLanczos },
};

/**
 * The taps of one dimension.
 *
 * @param sourceSize pixels of the source
 * @param targetSize pixels of the result
 * @param filter the filter for the weights
 */
export function makeTaps(sourceSize: number, targetSize: number, filter: Filter): Taps {
  const { support, weigh } = KERNELS[filter];
  const scale = sourceSize / targetSize;
  const stretch = Math.max(1, scale);
  const reach = support * stretch;
  const size = Math.ceil(reach) * 2 + 1;

  const starts = new Int32Array(targetSize);
  const counts = new Int32Array(targetSize);
  const weights = new Int32Array(targetSize * size);
  for (let target = 0; target < targetSize; target++) {
    const center = (target + 0.5) * scale;
    const start = Math.max(0, Math.trunc(center - reach + 0.5));
    const end = Math.min(sourceSize, Math.trunc(center + reach + 0.5));
    const shares = Array.from(
      { length: end - start },
      (_, index) => weigh((index + start - center + 0.5) * (1 / stretch)),
    );
    starts[target] = start;
    counts[target] = shares.length;
    weights.set(toFixedPoint(shares), target * size);
  }
  return { size, starts, counts, weights };
}

/** Scales weights so that they add up to one, and rounds them, halves away from zero. */
function toFixedPoint(shares: readonly number[]): number[] {
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => {
    const weight = sum === 0 ? share : share / sum;
    return Math.trunc(weight * 2 ** PRECISION_BITS + (weight < 0 ? -0.5 : 0.5));
  });
}

/** Keys' cubic convolution with a = -1/2. */
function weighBicubic(distance: number): number {
  const a = -0.5;
  const x = Math.abs(distance);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/** A sinc, windowed by a sinc that is three times as wide. */
function weighLanczos(distance: number): number {
  return distance >= -3 && distance < 3 ? sinc(distance) * sinc(distance / 3) : 0;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}
