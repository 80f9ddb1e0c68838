// Pictures on the canvas that suits them best, in tiles, with an overview: Llama 4, and LLaVA 1.6
// where the file names the canvases. The choice: select_best_resolution of LLaVA-NeXT's image
// processor in transformers, in the 32-bit arithmetic of llama.cpp.

import type { Image } from "../image/mod.ts";
import { cutTiles, fit, fitScale, type Size } from "./canvas.ts";
import type { PreprocessingConfig } from "./config.ts";
import { type PreparedImages, wholeImage } from "./prepared.ts";
import { resample } from "./resample.ts";

/** Cuts the picture into tiles and adds an overview; one that is no larger than a tile stays whole. */
export function prepareTiled(image: Image, config: PreprocessingConfig): PreparedImages {
  const { imageSize: side, filter, background, canvases, isOverviewFirst } = config;
  const whole = resample(image, side, side, filter);
  if (image.width <= side && image.height <= side) return wholeImage(whole);

  const canvas = chooseCanvas(image, canvases);
  const tiles = cutTiles(fit(image, canvas, filter, background), side)
    .map((tile) => ({ ...tile, role: "tile" } as const));
  const overview = { ...whole, role: "overview" } as const;
  return {
    images: isOverviewFirst ? [overview, ...tiles] : [...tiles, overview],
    columns: canvas.width / side,
    rows: canvas.height / side,
  };
}

/** The canvas on which most of the picture's pixels count; of these, that which it fills best. */
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
