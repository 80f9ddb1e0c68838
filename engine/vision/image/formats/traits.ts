// The traits of an image file: what is known before it is decoded, such as the size of the picture.

import { checkSize, MAX_PLATFORM_PIXELS, type Size } from "../image.ts";
import { UPRIGHT } from "../orientation.ts";

/** The result of a format's check. */
export interface Traits {
  /** Size of the decoded picture, upright, in pixels. */
  readonly size: Size;
  /** The decoder for the file: the platform's, or one of ours. */
  readonly decoder: "platform" | "png" | "jpeg";
  /** How to turn the decoder's result, as a number of EXIF: from 1 (not at all) to 8. */
  readonly orientation: number;
}

/**
 * The traits of a file that the platform decodes and turns upright itself.
 *
 * @param size upright
 * @throws {ImageError} if it has too many pixels
 */
export function plain({ width, height }: Size): Traits {
  const size = checkSize(width, height, MAX_PLATFORM_PIXELS);
  return { size, decoder: "platform", orientation: UPRIGHT };
}
