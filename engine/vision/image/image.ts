// What a picture is once it is decoded, how large one may be, and the error of one that cannot be used.

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

/** What one picture may have: a small file can claim any size, and decoding allocates it. */
export const MAX_PIXELS = 100_000_000;

/**
 * What one may have that the platform decodes, which takes 12 bytes for each pixel: with these it holds
 * what the PNG decoder does with its 100 million. A screen of 8K has 33 million.
 */
export const MAX_PLATFORM_PIXELS = 36_000_000;

/**
 * The size, if a picture has pixels, and not too many: to be asked before anything is decoded.
 *
 * @param width in pixels, as the file says
 * @param height in pixels, as the file says
 * @param most pixels that its format may have
 * @throws {ImageError} if a side is zero, or the picture has more
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

/** Rounded up, so that what is over the limit also reads so. */
function megapixels(pixels: number): number {
  return Math.ceil(pixels / 1e5) / 10;
}

/**
 * A picture that is damaged, of a format that is not read, or of a size that is not allowed. It is the
 * request's fault, not the model's: servers answer 400. Clients of Ollama know it by the words
 * "invalid image input".
 */
export class ImageError extends RequestError {
  /** Name of the class. */
  override name = "ImageError";
  /**
   * Says which and why.
   *
   * @param state what is so, in words that follow a colon
   * @param which it is, where there are several
   */
  constructor(readonly state: string, which = "the image") {
    super(`Cannot read ${which}: invalid image input: ${state}`);
  }
}
