// The result of preprocessing a picture, in all ways of preprocessing.

import type { Image, Size } from "../image/mod.ts";
import type { PreprocessingConfig } from "./config.ts";

/** A picture that the encoder takes as it is. */
export interface PreparedImage extends Image {
  /** The whole picture, a part of it, or the whole beside its parts. */
  readonly role: "image" | "tile" | "overview";
}

/** One picture of a request, ready for the encoder. */
export interface PreparedImages {
  /** The pictures in the order of the prompt. Tiles are ordered by row. */
  readonly images: readonly PreparedImage[];
  /** Number of tiles side by side; 0 if there are none. */
  readonly columns: number;
  /** Number of tiles one above the other; 0 if there are none. */
  readonly rows: number;
}

/** The result of preprocessing, without the pixels. */
export interface Layout extends Omit<PreparedImages, "images"> {
  readonly images: readonly (Size & Pick<PreparedImage, "role">)[];
}

/** One way of preprocessing. */
export interface Preprocessor {
  /** The layout for a picture of that size. */
  lay(size: Size, config: PreprocessingConfig): Layout;
  prepare(image: Image, config: PreprocessingConfig): PreparedImages;
}

/** A picture that is not cut into tiles. */
export function whole<T extends Size>(image: T) {
  return { images: [{ ...image, role: "image" as const }], columns: 0, rows: 0 };
}

/** The layout of a picture in tiles, with an overview of a tile's size. */
export function layTiles(canvas: Size, side: number, isOverviewFirst: boolean): Layout {
  const [columns, rows] = [canvas.width / side, canvas.height / side];
  const size = { width: side, height: side };
  const tiles = Array.from({ length: columns * rows }, () => ({ ...size, role: "tile" }) as const);
  const overview = { ...size, role: "overview" } as const;
  return {
    images: isOverviewFirst ? [overview, ...tiles] : [...tiles, overview],
    columns,
    rows,
  };
}
