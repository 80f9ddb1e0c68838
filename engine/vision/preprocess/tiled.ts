// Pictures on the canvas that suits them best, in tiles, with an overview: Llama 4, and LLaVA 1.6
// if the file lists the canvases. The choice: select_best_resolution of LLaVA-NeXT's image
// processor in transformers, in the 32-bit arithmetic of llama.cpp.

import type { Size } from "../image/mod.ts";
import { cutTiles, fit, fitScale } from "./canvas.ts";
import { layTiles, type Preprocessor, whole } from "./prepared.ts";
import { resample } from "./resample.ts";

/**
 * Cuts the picture into tiles and adds an overview. A picture that is no larger than a tile stays
 * whole.
 */
export const tiled: Preprocessor = {
  lay(size, { imageSize: side, canvases, isOverviewFirst }) {
    if (isTile(size, side)) return whole({ width: side, height: side });
    return layTiles(chooseCanvas(size, canvases), side, isOverviewFirst);
  },
  prepare(image, { imageSize: side, filter, background, canvases, isOverviewFirst }) {
    const small = resample(image, side, side, filter);
    if (isTile(image, side)) return whole(small);

    const canvas = chooseCanvas(image, canvases);
    const tiles = cutTiles(fit(image, canvas, filter, background), side)
      .map((tile) => ({ ...tile, role: "tile" } as const));
    const overview = { ...small, role: "overview" } as const;
    return {
      ...layTiles(canvas, side, isOverviewFirst),
      images: isOverviewFirst ? [overview, ...tiles] : [...tiles, overview],
    };
  },
};

function isTile({ width, height }: Size, side: number): boolean {
  return width <= side && height <= side;
}

/**
 * The canvas that keeps the most of the picture's pixels; of several, the one with the least waste.
 */
function chooseCanvas(image: Size, canvases: readonly Size[]): Size {
  const choices = canvases.map((canvas) => {
    const scale = fitScale(image, canvas);
    const width = Math.trunc(Math.fround(image.width * scale));
    const height = Math.trunc(Math.fround(image.height * scale));
    const effective = Math.min(width * height, image.width * image.height);
    return { canvas, effective, wasted: canvas.width * canvas.height - effective };
  });
  choices.sort((a, b) => b.effective - a.effective || a.wasted - b.wasted);
  return choices[0].canvas;
}
