// What a picture is once it is decoded, and how large one may be.

import { ImageError } from "./errors.ts";

/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A decoded picture, upright, without alpha. */
export interface Image extends Size {
  /** Red, green and blue from 0 to 255: [height, width, 3]. */
  readonly pixels: Uint8Array;
}

/** What one picture may have: a small file can claim any size, and decoding allocates it. */
export const MAX_PIXELS = 100_000_000;

/**
 * The size, if a picture has pixels, and not too many: to be asked before anything is decoded.
 *
 * @param width in pixels, as the file says
 * @param height in pixels, as the file says
 * @throws {ImageError} if a side is zero, or the picture is over MAX_PIXELS
 */
export function checkSize(width: number, height: number): Size {
  if (width === 0 || height === 0) {
    throw new ImageError(`it is ${width} x ${height} pixels; both sides have to be at least 1`);
  }
  if (width * height <= MAX_PIXELS) return { width, height };
  throw new ImageError(
    `it is ${width} x ${height} pixels, ${megapixels(width * height)} megapixels in all; ` +
      `the limit is ${MAX_PIXELS / 1e6} megapixels, so send it smaller`,
  );
}

/** Rounded up, so that what is over the limit also reads so. */
function megapixels(pixels: number): number {
  return Math.ceil(pixels / 1e5) / 10;
}
