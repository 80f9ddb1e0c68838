// Decoded pictures, their largest sizes, and the error for pictures that cannot be used.

import { RequestError } from "../../errors.ts";

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

/**
 * Most pixels of a picture. A small file can claim any size, and decoding allocates memory for it.
 */
const MAX_PIXELS = 100_000_000;

/**
 * Most pixels of a picture that the platform decodes, which takes 12 bytes per pixel. With this
 * limit it takes as much memory as the PNG decoder with its 100 million. A screen of 8K has 33
 * million.
 */
export const MAX_PLATFORM_PIXELS = 36_000_000;

/**
 * The size of a picture, if it is allowed. To be called before decoding.
 *
 * @param width in pixels, according to the file
 * @param height in pixels, according to the file
 * @param most most pixels for its format
 * @throws {ImageError} if a side is zero, or there are too many pixels
 */
export function checkSize(width: number, height: number, most = MAX_PIXELS): Size {
  if (width === 0 || height === 0) {
    throw new ImageError(`it is ${width} x ${height} pixels; both sides have to be at least 1`);
  }
  if (width * height <= most) return { width, height };
  throw new ImageError(
    `it is ${width} x ${height} pixels, ${megapixels(width * height)} megapixels in all; ` +
      (most < MAX_PIXELS
        ? `the limit of its format is ${
          most / 1e6
        } megapixels, so send it smaller, or as PNG or JPEG`
        : `the limit is ${most / 1e6} megapixels, so send it smaller`),
  );
}

/** Rounded up, so that a number above the limit never reads like the limit. */
function megapixels(pixels: number): number {
  return Math.ceil(pixels / 1e5) / 10;
}

/**
 * The error for a picture that is damaged, in an unsupported format, or of a size that is not
 * allowed. It is the request's fault, not the model's, so servers answer 400. Clients of Ollama
 * recognize it by the words "invalid image input".
 */
export class ImageError extends RequestError {
  /**
   * The message names the picture and the reason.
   *
   * @param state the reason, as words after a colon
   * @param which the picture, if there are several
   */
  constructor(readonly state: string, which = "the image") {
    super(`Cannot read ${which}: invalid image input: ${state}`);
  }
}
