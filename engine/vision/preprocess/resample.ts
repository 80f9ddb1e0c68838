// Changes the size of a picture, byte for byte as Pillow does: first along rows, then along
// columns, with weights of 22 fractional bits and a rounding to bytes after each. Shrinking widens
// the filter, so that every pixel counts. The definition: Pillow, src/libImaging/Resample.c.

import { pollCancellation } from "../../cancellation.ts";
import type { Image, Size } from "../image/mod.ts";

// Filter taps for resampling one dimension: which pixels make up a resampled pixel, and with which
// weights. The definition: Pillow, src/libImaging/Resample.c (precompute_coeffs,
// normalize_coeffs_8bpc).

/** Fractional bits of a weight: 32, less 8 for the byte, less 2 for overshoots of sums. */
const PRECISION_BITS = 22;

/** The resampling filters. */
export type Filter = "bilinear" | "bicubic" | "lanczos";

/** For each pixel of the result, the pixels of the source that make it up. */
interface Taps {
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
function makeTaps(sourceSize: number, targetSize: number, filter: Filter): Taps {
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

/** Added before a sum of weighted bytes is truncated, which rounds it. */
const HALF = 1 << PRECISION_BITS - 1;

/**
 * Stretches a picture to a size. A side that keeps its length is not filtered.
 *
 * @param image the picture
 * @param width of the result, in pixels
 * @param height of the result, in pixels
 * @param filter the filter for the weights
 */
export function resample(image: Image, width: number, height: number, filter: Filter): Image {
  if (width === image.width && height === image.height) return image;
  const across = width === image.width ? undefined : makeTaps(image.width, width, filter);
  const down = height === image.height ? undefined : makeTaps(image.height, height, filter);

  const rowBytes = width * 3;
  const pixels = new Uint8ClampedArray(rowBytes * height);
  const sums = new Int32Array(down ? pixels.length : 0).fill(HALF);
  const buffer = new Uint8ClampedArray(rowBytes);
  for (let y = 0, first = 0; y < image.height; y++) {
    pollCancellation();
    const source = y * image.width * 3;
    const row = across
      ? resampleRow(image.pixels, source, across, buffer)
      : image.pixels.subarray(source, source + rowBytes);
    if (down) first = addRow(row, y, first, down, sums);
    else pixels.set(row, y * rowBytes);
  }
  // Bytes are clamped when they are stored.
  for (let at = 0; at < sums.length; at++) pixels[at] = sums[at] >> PRECISION_BITS;
  return { width, height, pixels: new Uint8Array(pixels.buffer) };
}

/** Filters the row of pixels that starts at `source`. */
function resampleRow(
  pixels: Uint8Array,
  source: number,
  { size, starts, counts, weights }: Taps,
  row: Uint8ClampedArray,
): Uint8ClampedArray {
  for (let x = 0; x < starts.length; x++) {
    let red = HALF;
    let green = HALF;
    let blue = HALF;
    let at = source + starts[x] * 3;
    const end = x * size + counts[x];
    for (let tap = x * size; tap < end; tap++, at += 3) {
      const weight = weights[tap];
      red = red + Math.imul(pixels[at], weight) | 0;
      green = green + Math.imul(pixels[at + 1], weight) | 0;
      blue = blue + Math.imul(pixels[at + 2], weight) | 0;
    }
    row[x * 3] = red >> PRECISION_BITS;
    row[x * 3 + 1] = green >> PRECISION_BITS;
    row[x * 3 + 2] = blue >> PRECISION_BITS;
  }
  return row;
}

/**
 * Adds row `y` of the source to all rows of the result that it contributes to, which are neighbours
 * from `first` on. Returns the first row for the next call.
 */
function addRow(
  row: Uint8Array | Uint8ClampedArray,
  y: number,
  first: number,
  { size, starts, counts, weights }: Taps,
  sums: Int32Array,
): number {
  while (first < starts.length && starts[first] + counts[first] <= y) first++;
  for (let target = first; target < starts.length && starts[target] <= y; target++) {
    const weight = weights[target * size + y - starts[target]];
    const offset = target * row.length;
    for (let at = 0; at < row.length; at++) {
      sums[offset + at] = sums[offset + at] + Math.imul(row[at], weight);
    }
  }
  return first;
}

// Pictures on a canvas of given size: fitted into it, or cut into tiles.

/** Red, green and blue from 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

/**
 * Most times that a side may be as long as the other. Qwen's image processor has the same limit. A
 * line that is stretched to a square would take a thousand times the work of a photo.
 */
export const MAX_ASPECT_RATIO = 200;

/** The colour of most models' canvas where the picture does not reach. */
export const BLACK: Color = [0, 0, 0];

/**
 * Scales a picture without distortion so that it just fits a canvas, and centres it there.
 *
 * @param image the picture
 * @param canvas size of the result
 * @param filter for resampling
 * @param background of the bars that remain
 */
export function fit(image: Image, canvas: Size, filter: Filter, background: Color): Image {
  const scale = fitScale(image, canvas);
  const width = Math.min(Math.ceil(Math.fround(image.width * scale)), canvas.width);
  const height = Math.min(Math.ceil(Math.fround(image.height * scale)), canvas.height);
  const scaled = resample(image, width, height, filter);
  if (width === canvas.width && height === canvas.height) return scaled;

  const pixels = new Uint8Array(canvas.width * canvas.height * 3);
  for (let at = 0; at < pixels.length; at += 3) pixels.set(background, at);
  const left = Math.floor((canvas.width - width) / 2);
  const top = Math.floor((canvas.height - height) / 2);
  for (let row = 0; row < height; row++) {
    const source = scaled.pixels.subarray(row * width * 3, (row + 1) * width * 3);
    pixels.set(source, ((top + row) * canvas.width + left) * 3);
  }
  return { ...canvas, pixels };
}

/**
 * The factor by which a size has to be scaled to fit another, as a number of 32 bits, since
 * llama.cpp computes with those and the rounding of a product may decide about a pixel.
 */
export function fitScale(size: Size, canvas: Size): number {
  return Math.min(
    Math.fround(canvas.width / size.width),
    Math.fround(canvas.height / size.height),
  );
}

/** Cuts a picture into squares, row by row. Both of its sides have to be multiples of `side`. */
export function cutTiles(image: Image, side: number): Image[] {
  const tiles: Image[] = [];
  for (let top = 0; top < image.height; top += side) {
    for (let left = 0; left < image.width; left += side) tiles.push(cut(image, left, top, side));
  }
  return tiles;
}

function cut(image: Image, left: number, top: number, side: number): Image {
  const pixels = new Uint8Array(side * side * 3);
  for (let row = 0; row < side; row++) {
    const source = ((top + row) * image.width + left) * 3;
    pixels.set(image.pixels.subarray(source, source + side * 3), row * side * 3);
  }
  return { width: side, height: side, pixels };
}
