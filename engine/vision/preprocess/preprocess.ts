// From a picture to what the encoder of a model takes: scaled, padded or cut into tiles, as the model
// was trained. Pixels stay bytes; normalize.ts comes after.

import { type Image, ImageError } from "../image/mod.ts";
import type { Method, PreprocessingConfig } from "./config.ts";
import { prepareDynamic } from "./dynamic.ts";
import { prepareFixed } from "./fixed.ts";
import { prepareIdefics3 } from "./idefics3.ts";
import type { PreparedImages, Preprocessor } from "./prepared.ts";
import { prepareTiled } from "./tiled.ts";

/**
 * How many times as long as the other a side may be. Qwen's image processor has the same limit; a
 * line that is stretched to a square would take a thousand times the work of a photo.
 */
const MAX_ASPECT_RATIO = 200;

const PREPROCESSORS: Record<Method, Preprocessor> = {
  dynamic: prepareDynamic,
  fixed: prepareFixed,
  idefics3: prepareIdefics3,
  tiled: prepareTiled,
};

/**
 * Prepares a picture for a model's encoder.
 *
 * @param image as it was decoded
 * @param config what the model's file says, see readPreprocessing
 * @returns one picture or several, in the order of the prompt
 * @throws {ImageError} if one side is over 200 times as long as the other
 */
export function preprocess(image: Image, config: PreprocessingConfig): PreparedImages {
  const { width, height } = image;
  if (Math.max(width, height) > MAX_ASPECT_RATIO * Math.min(width, height)) {
    throw new ImageError(
      `it is ${width} x ${height} pixels; ` +
        `no side may be over ${MAX_ASPECT_RATIO} times as long as the other, so crop it`,
    );
  }
  return PREPROCESSORS[config.method](image, config);
}
