// Pictures in tiles of one size, followed by an overview: Idefics3 and SmolVLM. The picture is
// stretched twice: first to the wanted length, then to whole tiles. The sizes:
// Idefics3ImageProcessor in transformers.

import type { Size } from "../image/mod.ts";
import { cutTiles } from "./canvas.ts";
import type { PreprocessingConfig } from "./config.ts";
import { layTiles, type Preprocessor } from "./prepared.ts";
import { resample } from "./resample.ts";

/** Cuts the picture into tiles and adds an overview. */
export const idefics3: Preprocessor = {
  lay: (size, config) => layTiles(canvasOf(size, config), config.imageSize, false),
  prepare(image, config) {
    const { imageSize: side, filter } = config;
    const size = longestEdgeSize(image, config.longestEdge);
    const canvas = canvasOf(image, config);
    const scaled = resample(image, size.width, size.height, filter);
    const aligned = resample(scaled, canvas.width, canvas.height, filter);
    const tiles = cutTiles(aligned, side).map((tile) => ({ ...tile, role: "tile" } as const));
    const overview = { ...resample(aligned, side, side, filter), role: "overview" } as const;
    return { ...layTiles(canvas, side, false), images: [...tiles, overview] };
  },
};

/** The fewest whole tiles that the scaled picture fits in. */
function canvasOf(image: Size, { longestEdge, imageSize: side }: PreprocessingConfig): Size {
  const { width, height } = longestEdgeSize(image, longestEdge);
  return { width: Math.ceil(width / side) * side, height: Math.ceil(height / side) * side };
}

/** The size with this length of the longer side and an even length of the other. */
function longestEdgeSize({ width, height }: Size, longest: number): Size {
  const ratio = Math.fround(Math.min(width, height) / Math.max(width, height));
  const length = Math.trunc(Math.fround(longest * ratio));
  const shorter = Math.max(1, length + length % 2);
  return width >= height
    ? { width: longest, height: shorter }
    : { width: shorter, height: longest };
}
