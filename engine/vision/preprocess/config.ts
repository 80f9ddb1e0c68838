// What a vision model's file says of how pictures are to be prepared. What it leaves to the program
// is a fact of the family of its encoder, as llama.cpp has it in tools/mtmd/clip.cpp (load_hparams)
// and clip-model.h (clip_hparams).

import { RequestError, UnsupportedModelError } from "../../errors.ts";
import type { MetadataReader } from "../../gguf/mod.ts";
import type { Size } from "../image/mod.ts";
import { BLACK, type Color } from "./canvas.ts";
import type { Filter } from "./taps.ts";

/** How many tokens one picture may take, where the model leaves a choice. */
export interface TokenLimits {
  /** Smaller pictures are enlarged until they take as many. */
  readonly imageMinTokens?: number;
  /** Larger pictures are shrunk until they take no more. */
  readonly imageMaxTokens?: number;
}

/** All that preparing a picture depends on. Sizes in pixels. */
export interface PreprocessingConfig {
  /** Which way of preparing pictures is this model's. */
  readonly method: Method;
  /** For resampling. */
  readonly filter: Filter;
  /** Of the bars beside a picture of another shape than its canvas. */
  readonly background: Color;
  /** Side of the square that the encoder was trained with: of a picture, or of a tile. */
  readonly imageSize: number;
  /** Side of a patch. */
  readonly patchSize: number;
  /** Patches that make a token, per side. */
  readonly merge: number;
  /** Of the dynamic method: fewest and most pixels of the result. */
  readonly minPixels: number;
  readonly maxPixels: number;
  /** Of idefics3: what the longer side is brought to. */
  readonly longestEdge: number;
  /** Of the tiled method: sizes to choose from, and where the overview goes. */
  readonly canvases: readonly Size[];
  readonly isOverviewFirst: boolean;
  /** What normalising subtracts from red, green and blue between 0 and 1. */
  readonly mean: readonly number[];
  /** What normalising divides by. */
  readonly std: readonly number[];
}

/** One square, a size that follows the picture, or tiles with an overview, in two ways. */
export type Method = "fixed" | "dynamic" | "idefics3" | "tiled";

/** How pictures are prepared for a family of encoders: what files leave to the program. */
export interface PictureFacts {
  readonly method: Method;
  /** Default "bicubic". */
  readonly filter?: Filter;
  /** Default black. */
  readonly background?: Color;
  /**
   * Patches on each side of the square that becomes one token: the key below "clip.vision." and what
   * holds where it is missing. Default: each patch is one.
   */
  readonly merge?: readonly [key: string, value: number];
  /** Of the dynamic method: fewest and most tokens of a picture. */
  readonly tokens?: readonly [min: number, max: number];
  /** Of the tiled method: most tiles per side. */
  readonly tiles?: number;
  /** Whether files may name the canvases for tiles themselves, as those of LLaVA 1.6 do. */
  readonly namesCanvases?: boolean;
}

/** Patches on each side of a token. Error: GgufError. */
export function readMerge(metadata: MetadataReader, { merge }: PictureFacts): number {
  return merge ? metadata.optionalCount(`clip.vision.${merge[0]}`, 0) || merge[1] : 1;
}

/**
 * Reads what preparing pictures depends on.
 *
 * @param metadata of the file with the projector
 * @param facts of its family
 * @param limits of the caller, in place of the model's
 * @throws {GgufError} if a value is missing or of another type
 */
export function readPreprocessing(
  metadata: MetadataReader,
  facts: PictureFacts,
  limits: TokenLimits = {},
): PreprocessingConfig {
  const { method, filter = "bicubic", background = BLACK, tokens, tiles = 1 } = facts;
  const imageSize = metadata.count("clip.vision.image_size");
  const patchSize = metadata.count("clip.vision.patch_size");
  const merge = readMerge(metadata, facts);
  return {
    method,
    filter,
    background,
    imageSize,
    patchSize,
    merge,
    ...pixelLimits(tokens, limits, (patchSize * merge) ** 2),
    longestEdge: metadata.optionalCount("clip.vision.preproc_image_size", imageSize),
    canvases: canvasesOf(tiles, imageSize),
    isOverviewFirst: false,
    mean: readChannels(metadata, "clip.vision.image_mean"),
    std: readChannels(metadata, "clip.vision.image_std"),
    ...(facts.namesCanvases && pinpointTiles(metadata)),
  };
}

/** A number for each of red, green and blue. */
function readChannels(metadata: MetadataReader, key: string): readonly number[] {
  const values = metadata.numbers(key);
  if (values.length >= 3) return values;
  throw new UnsupportedModelError(
    `Cannot prepare images: ${key} has ${values.length} values, not one for each colour`,
  );
}

/** Limits in pixels, where the projector leaves a choice; the caller's go before its own. */
function pixelLimits(
  tokens: readonly [min: number, max: number] | undefined,
  limits: TokenLimits,
  tokenPixels: number,
): { minPixels: number; maxPixels: number } {
  if (!tokens) return { minPixels: 0, maxPixels: Infinity };
  const { imageMinTokens: min = tokens[0], imageMaxTokens: max = tokens[1] } = limits;
  if (min > max) {
    throw new RequestError(
      `Cannot prepare images: imageMinTokens is ${min}, imageMaxTokens only ${max}; set both`,
    );
  }
  return { minPixels: min * tokenPixels, maxPixels: max * tokenPixels };
}

/** All rectangles of at most `tiles` squares per side but the single square, narrow ones first. */
function canvasesOf(tiles: number, side: number): Size[] {
  const counts = Array.from({ length: tiles }, (_, index) => index + 1);
  return counts
    .flatMap((columns) => counts.map((rows) => ({ width: columns * side, height: rows * side })))
    .slice(1);
}

/** What changes where a file names the canvases itself. */
function pinpointTiles(metadata: MetadataReader): Partial<PreprocessingConfig> {
  // Pairs of width and height.
  const sides = metadata.optionalNumbers("clip.vision.image_grid_pinpoints", []);
  if (sides.length === 0) return {};
  const canvases = Array.from({ length: sides.length / 2 }, (_, index) => ({
    width: sides[2 * index],
    height: sides[2 * index + 1],
  }));
  return { method: "tiled", background: BLACK, canvases, isOverviewFirst: true };
}
