// From the bytes of a prepared picture to the encoder's input.

import type { Image } from "../image/mod.ts";
import type { PreprocessingConfig } from "./config.ts";

/**
 * Normalises a picture: (byte / 255 - mean) / std, each step rounded to 32 bits.
 *
 * @param image the picture
 * @param config of the model; mean and std are used
 * @returns [height, width, 3]
 */
export function normalize(
  { pixels }: Image,
  { mean, std }: Pick<PreprocessingConfig, "mean" | "std">,
): Float32Array {
  const [reds, greens, blues] = [0, 1, 2].map((channel) => makeTable(mean[channel], std[channel]));
  const values = new Float32Array(pixels.length);
  for (let at = 0; at < pixels.length; at += 3) {
    values[at] = reds[pixels[at]];
    values[at + 1] = greens[pixels[at + 1]];
    values[at + 2] = blues[pixels[at + 2]];
  }
  return values;
}

/** The normalised value of each byte: [256]. */
function makeTable(mean: number, std: number): Float32Array {
  const float = Math.fround;
  return Float32Array.from(
    { length: 256 },
    (_, byte) => float(float(byte / 255) - float(mean)) / float(std),
  );
}
