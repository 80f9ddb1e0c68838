// Pictures that stay whole. "fixed" has one size (SigLIP of Gemma 3, CLIP of LLaVA 1.5): the
// picture keeps its shape and is centred on a square, as in llama.cpp; the models' own processors
// stretch, or cut to a square. "dynamic" has a size as near to the picture's as whole tokens and
// the limits on their number allow (Qwen-VL, Pixtral, Mistral 3, Gemma 4). It is smart_resize of
// Qwen2-VL's image processor in transformers, in the 32-bit arithmetic of llama.cpp.

import type { Size } from "../image/mod.ts";
import { fit, MAX_ASPECT_RATIO } from "./canvas.ts";
import type { PreprocessingConfig } from "./config.ts";
import { type Preprocessor, whole } from "./prepared.ts";

/** Fits the picture into the encoder's square. */
export const fixed: Preprocessor = {
  lay: (_, { imageSize: side }) => whole({ width: side, height: side }),
  prepare(image, { imageSize: side, filter, background }) {
    return whole(fit(image, { width: side, height: side }, filter, background));
  },
};

/** Fits the picture into a canvas of about its shape. */
export const dynamic: Preprocessor = {
  lay: (size, config) => whole(dynamicSize(size, config)),
  prepare(image, config) {
    return whole(fit(image, dynamicSize(image, config), config.filter, config.background));
  },
};

/**
 * Most tokens of a picture. It may be a few more than the limit: an enlarged picture gets whole
 * tokens on both sides, and the shorter side of a shrunk one keeps at least one.
 */
export function mostDynamicTokens(config: PreprocessingConfig): number {
  const { patchSize, merge, minPixels, maxPixels } = config;
  const [least, most] = [minPixels, maxPixels].map((pixels) => pixels / (patchSize * merge) ** 2);
  const longer = (tokens: number) => Math.sqrt(MAX_ASPECT_RATIO * tokens);
  const enlarged = least + longer(least) + least / longer(least) + 1;
  return Math.ceil(Math.max(most, longer(most), least > 0 ? enlarged : 0));
}

/** The size of the canvas. Its sides are multiples of a token's side. */
function dynamicSize({ width, height }: Size, config: PreprocessingConfig): Size {
  const { patchSize, merge, minPixels, maxPixels } = config;
  const align = patchSize * merge;
  const alignWith = (round: (tokens: number) => number) => (side: number) =>
    round(float(side / align)) * align;

  const alignNearest = alignWith((tokens) => Math.max(1, Math.round(tokens)));
  const canvas = { width: alignNearest(width), height: alignNearest(height) };
  const pixels = canvas.width * canvas.height;
  if (pixels > maxPixels) {
    const shrink = float(Math.sqrt(float(float(width * height) / float(maxPixels))));
    const alignDown = alignWith((tokens) => Math.max(1, Math.floor(tokens)));
    return { width: alignDown(float(width / shrink)), height: alignDown(float(height / shrink)) };
  }
  if (pixels < minPixels) {
    const enlarge = float(Math.sqrt(float(float(minPixels) / float(width * height))));
    const alignUp = alignWith(Math.ceil);
    return { width: alignUp(float(width * enlarge)), height: alignUp(float(height * enlarge)) };
  }
  return canvas;
}

/** Results are rounded to 32 bits, which may decide about a row of tokens. */
const float = Math.fround;
