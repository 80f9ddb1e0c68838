// From a picture to the input of a model's encoder: scaled, padded or cut into tiles, as the model
// was trained. Pixels stay bytes until they are normalized.

import { type Image, ImageError, type Size } from "../image/mod.ts";
import { cutTiles, fit, fitScale, MAX_ASPECT_RATIO, resample } from "./resample.ts";
import type { Method, PreprocessingConfig } from "./config.ts";

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
interface Preprocessor {
  /** The layout for a picture of that size. */
  lay(size: Size, config: PreprocessingConfig): Layout;
  prepare(image: Image, config: PreprocessingConfig): PreparedImages;
}

/** A picture that is not cut into tiles. */
function whole<T extends Size>(image: T) {
  return { images: [{ ...image, role: "image" as const }], columns: 0, rows: 0 };
}

/** The layout of a picture in tiles, with an overview of a tile's size. */
function layTiles(canvas: Size, side: number, isOverviewFirst: boolean): Layout {
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

// Pictures in tiles of one size, followed by an overview: Idefics3 and SmolVLM. The picture is
// stretched twice: first to the wanted length, then to whole tiles. The sizes:
// Idefics3ImageProcessor in transformers.

/** Cuts the picture into tiles and adds an overview. */
const idefics3: Preprocessor = {
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

// Pictures on the canvas that suits them best, in tiles, with an overview: Llama 4, and LLaVA 1.6
// if the file lists the canvases. The choice: select_best_resolution of LLaVA-NeXT's image
// processor in transformers, in the 32-bit arithmetic of llama.cpp.

/**
 * Cuts the picture into tiles and adds an overview. A picture that is no larger than a tile stays
 * whole.
 */
const tiled: Preprocessor = {
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

// Pictures that stay whole. "fixed" has one size (SigLIP of Gemma 3, CLIP of LLaVA 1.5): the
// picture keeps its shape and is centred on a square, as in llama.cpp; the models' own processors
// stretch, or cut to a square. "dynamic" has a size as near to the picture's as whole tokens and
// the limits on their number allow (Qwen-VL, Pixtral, Mistral 3, Gemma 4). It is smart_resize of
// Qwen2-VL's image processor in transformers, in the 32-bit arithmetic of llama.cpp.

/** Fits the picture into the encoder's square. */
const fixed: Preprocessor = {
  lay: (_, { imageSize: side }) => whole({ width: side, height: side }),
  prepare(image, { imageSize: side, filter, background }) {
    return whole(fit(image, { width: side, height: side }, filter, background));
  },
};

/** Fits the picture into a canvas of about its shape. */
const dynamic: Preprocessor = {
  lay: (size, config) => whole(dynamicSize(size, config)),
  prepare(image, config) {
    return whole(fit(image, dynamicSize(image, config), config.filter, config.background));
  },
};

/**
 * Most tokens of a picture. It may be a few more than the limit: an enlarged picture gets whole
 * tokens on both sides, and the shorter side of a shrunk one keeps at least one.
 */
function mostDynamicTokens(config: PreprocessingConfig): number {
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

/**
 * Normalises a picture: (byte / 255 - mean) / std, each step rounded to 32 bits.
 *
 * @param image the picture
 * @param config of the model; mean and std are used
 * @returns [height, width, 3]
 */
export function normalize(
  { pixels }: Image,
  { mean, std }: Pick<PreprocessingConfig, "mean" | "std">,
): Float32Array {
  const [reds, greens, blues] = [0, 1, 2].map((channel) => makeTable(mean[channel], std[channel]));
  const values = new Float32Array(pixels.length);
  for (let at = 0; at < pixels.length; at += 3) {
    values[at] = reds[pixels[at]];
    values[at + 1] = greens[pixels[at + 1]];
    values[at + 2] = blues[pixels[at + 2]];
  }
  return values;
}

/** The normalised value of each byte: [256]. */
function makeTable(mean: number, std: number): Float32Array {
  const float = Math.fround;
  return Float32Array.from(
    { length: 256 },
    (_, byte) => float(float(byte / 255) - float(mean)) / float(std),
  );
}
