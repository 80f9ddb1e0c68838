// What preparing a picture for a model gives, whatever the model.

import type { Image } from "../image/mod.ts";
import type { PreprocessingConfig } from "./config.ts";

/** A picture that the encoder takes as it is. */
export interface PreparedImage extends Image {
  /** The whole picture, a part of it, or the whole beside its parts. */
  readonly role: "image" | "tile" | "overview";
}

/** One picture of a request, ready for the encoder. */
export interface PreparedImages {
  /** In the order of the prompt. Tiles are row by row. */
  readonly images: readonly PreparedImage[];
  /** Tiles beside each other; 0 if there are none. */
  readonly columns: number;
  /** Tiles below each other; 0 if there are none. */
  readonly rows: number;
}

/** One way of preparing pictures. */
export type Preprocessor = (image: Image, config: PreprocessingConfig) => PreparedImages;

/** A picture that is not cut into tiles. */
export function wholeImage(image: Image): PreparedImages {
  return { images: [{ ...image, role: "image" }], columns: 0, rows: 0 };
}
