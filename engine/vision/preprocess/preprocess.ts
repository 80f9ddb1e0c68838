// From a picture to the input of a model's encoder: scaled, padded or cut into tiles, as the model
// was trained. Pixels stay bytes; normalize.ts comes after.

import { type Image, ImageError, type Size } from "../image/mod.ts";
import { MAX_ASPECT_RATIO } from "./canvas.ts";
import type { Method, PreprocessingConfig } from "./config.ts";
import { idefics3 } from "./idefics3.ts";
import type { Layout, PreparedImages, Preprocessor } from "./prepared.ts";
import { tiled } from "./tiled.ts";
import { dynamic, fixed, mostDynamicTokens } from "./whole.ts";

const PREPROCESSORS: Record<Method, Preprocessor> = { dynamic, fixed, idefics3, tiled };

/**
 * Prepares a picture for a model's encoder.
 *
 * @param image the decoded picture
 * @param config from the model's file, see readPreprocessing
 * @returns one picture or several, in the order of the prompt
 * @throws {ImageError} if one side is over 200 times as long as the other
 */
export function preprocess(image: Image, config: PreprocessingConfig): PreparedImages {
  checkShape(image);
  return PREPROCESSORS[config.method].prepare(image, config);
}

/**
 * The sizes that preprocess() will make of a picture of that size.
 *
 * @throws the errors of preprocess()
 */
export function layOut(size: Size, config: PreprocessingConfig): Layout {
  checkShape(size);
  return PREPROCESSORS[config.method].lay(size, config);
}

function checkShape({ width, height }: Size): void {
  if (Math.max(width, height) <= MAX_ASPECT_RATIO * Math.min(width, height)) return;
  throw new ImageError(
    `it is ${width} x ${height} pixels; ` +
      `no side may be over ${MAX_ASPECT_RATIO} times as long as the other, so crop it`,
  );
}

/** Most patches of a picture, or of a tile of one. */
export function mostPatches(config: PreprocessingConfig): number {
  const { method, imageSize, patchSize, merge } = config;
  if (method === "dynamic") return mostDynamicTokens(config) * merge ** 2;
  return Math.floor(imageSize / patchSize) ** 2;
}
