// Changes the size of a picture, byte for byte as Pillow does: first along rows, then along
// columns, with weights of 22 fractional bits and a rounding to bytes after each. Shrinking widens
// the filter, so that every pixel counts. The definition: Pillow, src/libImaging/Resample.c.

import { pollCancellation } from "../../cancellation.ts";
import type { Image } from "../image/mod.ts";
import { type Filter, makeTaps, PRECISION_BITS, type Taps } from "./taps.ts";

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
