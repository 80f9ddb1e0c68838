// What has to be known of a file to decode it, and to say how large the picture will be before.

import { checkSize, MAX_PLATFORM_PIXELS, type Size } from "../image.ts";
import { UPRIGHT } from "../orientation.ts";

/** What a format's check finds out. */
export interface Traits {
  /** Of the picture that is decoded, upright, in pixels. */
  readonly size: Size;
  /** Which decoder takes it: the platform's, or one of ours. */
  readonly decoder: "platform" | "png" | "jpeg";
  /** How to turn what the decoder gives, from 1 (not at all) to 8, as EXIF counts. */
  readonly orientation: number;
}

/**
 * Of a file that the platform decodes and rotates itself.
 *
 * @param size upright
 * @throws {ImageError} if that has too many pixels
 */
export function plain({ width, height }: Size): Traits {
  const size = checkSize(width, height, MAX_PLATFORM_PIXELS);
  return { size, decoder: "platform", orientation: UPRIGHT };
}
