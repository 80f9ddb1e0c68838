// Pictures on a canvas of given size: fitted into it, or cut into tiles.

import type { Image, Size } from "../image/mod.ts";
import { type Filter, resample } from "./resample.ts";

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
