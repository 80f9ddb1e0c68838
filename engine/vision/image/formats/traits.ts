// What has to be known of a file to decode it.

/** What a format's check finds out. */
export interface Traits {
  /** Which decoder takes it: the platform's, for 16 bits per colour too, or the one for JPEG. */
  readonly decoder: "platform" | "deep" | "jpeg";
  /** How to turn what the decoder gives, from 1 (not at all) to 8, as EXIF counts. */
  readonly orientation: number;
}

/** Of files that the platform decodes and turns. */
export const PLAIN: Traits = { decoder: "platform", orientation: 1 };
