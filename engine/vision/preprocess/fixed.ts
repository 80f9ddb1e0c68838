// Pictures of one size: SigLIP of Gemma 3, CLIP of LLaVA 1.5. The picture keeps its shape and is
// centred on a square, as llama.cpp does it; the models' own processors stretch, or cut to a square.

import type { Image } from "../image/mod.ts";
import { fit } from "./canvas.ts";
import type { PreprocessingConfig } from "./config.ts";
import { type PreparedImages, wholeImage } from "./prepared.ts";

/** Fits the picture into the encoder's square. */
export function prepareFixed(image: Image, config: PreprocessingConfig): PreparedImages {
  const { imageSize: side, filter, background } = config;
  return wholeImage(fit(image, { width: side, height: side }, filter, background));
}
