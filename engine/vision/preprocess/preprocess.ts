// From a picture to what the encoder of a model takes: scaled, padded or cut into tiles, as the model
// was trained. Pixels stay bytes; normalize.ts comes after.

import { type Image, ImageError } from "../image/mod.ts";
import { MAX_ASPECT_RATIO } from "./canvas.ts";
import type { Method, PreprocessingConfig } from "./config.ts";
import { mostDynamicTokens, prepareDynamic } from "./dynamic.ts";
import { prepareFixed } from "./fixed.ts";
import { prepareIdefics3 } from "./idefics3.ts";
import type { PreparedImages, Preprocessor } from "./prepared.ts";
import { prepareTiled } from "./tiled.ts";

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

/** Most patches of a picture, or of a tile of one. */
export function mostPatches(config: PreprocessingConfig): number {
  const { method, imageSize, patchSize, merge } = config;
  if (method === "dynamic") return mostDynamicTokens(config) * merge ** 2;
  return Math.floor(imageSize / patchSize) ** 2;
}
