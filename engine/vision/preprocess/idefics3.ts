// Pictures in tiles of one size, followed by an overview: Idefics3 and SmolVLM. The picture is
// stretched twice, first to the length that it is to have, then to whole tiles.
// The sizes: Idefics3ImageProcessor in transformers.

import type { Image } from "../image/mod.ts";
import { cutTiles, type Size } from "./canvas.ts";
import type { PreprocessingConfig } from "./config.ts";
import type { PreparedImages } from "./prepared.ts";
import { resample } from "./resample.ts";

/** Cuts the picture into tiles and adds an overview. */
export function prepareIdefics3(image: Image, config: PreprocessingConfig): PreparedImages {
  const { imageSize: side, filter } = config;
  const size = longestEdgeSize(image, config.longestEdge);
  const scaled = resample(image, size.width, size.height, filter);

  const columns = Math.ceil(size.width / side);
  const rows = Math.ceil(size.height / side);
  const aligned = resample(scaled, columns * side, rows * side, filter);
  const tiles = cutTiles(aligned, side).map((tile) => ({ ...tile, role: "tile" } as const));
  const overview = { ...resample(aligned, side, side, filter), role: "overview" } as const;
  return { images: [...tiles, overview], columns, rows };
}

/** The size at which the longer side has that length, and the other is even. */
function longestEdgeSize({ width, height }: Size, longest: number): Size {
  const ratio = Math.fround(Math.min(width, height) / Math.max(width, height));
  const length = Math.trunc(Math.fround(longest * ratio));
  const shorter = Math.max(1, length + length % 2);
  return width >= height
    ? { width: longest, height: shorter }
    : { width: shorter, height: longest };
}
