// Pictures of one size: SigLIP of Gemma 3, CLIP of LLaVA 1.5. The picture keeps its shape and is
// centred on a square, as llama.cpp does it; the models' own processors stretch, or cut to a square.

import { fit } from "./canvas.ts";
import { type Preprocessor, whole } from "./prepared.ts";

/** Fits the picture into the encoder's square. */
export const fixed: Preprocessor = {
  lay: (_, { imageSize: side }) => whole({ width: side, height: side }),
  prepare(image, { imageSize: side, filter, background }) {
    return whole(fit(image, { width: side, height: side }, filter, background));
  },
};
