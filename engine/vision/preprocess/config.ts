// How a vision model's file wants pictures to be preprocessed. Values that files lack come from the
// family of the encoder, as in llama.cpp (load_hparams in tools/mtmd/clip.cpp, clip_hparams in
// clip-model.h).

import { RequestError, UnsupportedModelError } from "../../errors.ts";
import type { MetadataReader } from "../../gguf/mod.ts";
import type { Size } from "../image/mod.ts";
import { BLACK, type Color, type Filter } from "./resample.ts";

/** Limits on the tokens of a picture, for models that leave a choice. */
export interface TokenLimits {
  /** Smaller pictures are enlarged until they have this number. */
  readonly imageMinTokens?: number;
  /** Larger pictures are shrunk until they have no more than this number. */
  readonly imageMaxTokens?: number;
}

/** Everything on which preprocessing depends. Sizes are in pixels. */
export interface PreprocessingConfig {
  /** The way of preprocessing. */
  readonly method: Method;
  /** The filter for resampling. */
  readonly filter: Filter;
  /** Colour of the bars beside a picture whose shape differs from the canvas. */
  readonly background: Color;
  /** Side of the square with which the encoder was trained: of a picture, or of a tile. */
  readonly imageSize: number;
  /** Side of a patch. */
  readonly patchSize: number;
  /** Patches along each side of a token. */
  readonly merge: number;
  /** For "dynamic": fewest and most pixels of the result. */
  readonly minPixels: number;
  readonly maxPixels: number;
  /** For "idefics3": length to which the longer side is scaled. */
  readonly longestEdge: number;
  /** For "tiled": sizes to choose from, and whether the overview comes first. */
  readonly canvases: readonly Size[];
  readonly isOverviewFirst: boolean;
  /** Subtracted from red, green and blue (between 0 and 1) by the normalization. */
  readonly mean: readonly number[];
  /** Divisors in the normalization. */
  readonly std: readonly number[];
}

/** One square, a size that follows the picture, or one of two ways of tiles with an overview. */
export type Method = "fixed" | "dynamic" | "idefics3" | "tiled";

/** How pictures are preprocessed for a family of encoders, as far as files do not say. */
export interface PictureFacts {
  readonly method: Method;
  /** Default "bicubic". */
  readonly filter?: Filter;
  /** Default black. */
  readonly background?: Color;
  /**
   * Patches along each side of the square that becomes one token: the key under "clip.vision." and
   * its default. Missing: each patch is a token.
   */
  readonly merge?: readonly [key: string, value: number];
  /** For "dynamic": fewest and most tokens of a picture. */
  readonly tokens?: readonly [min: number, max: number];
  /** For "tiled": most tiles per side. */
  readonly tiles?: number;
  /** Whether files may list the canvases for tiles, as those of LLaVA 1.6 do. */
  readonly namesCanvases?: boolean;
}

/** Patches along each side of a token. Errors: GgufError. */
export function readMerge(metadata: MetadataReader, { merge }: PictureFacts): number {
  return merge ? metadata.optionalCount(`clip.vision.${merge[0]}`, 0) || merge[1] : 1;
}

/**
 * Reads the configuration of preprocessing.
 *
 * @param metadata of the file with the projector
 * @param facts of its family
 * @param limits of the caller, instead of the model's
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

/** Numbers for red, green and blue. */
function readChannels(metadata: MetadataReader, key: string): readonly number[] {
  const values = metadata.numbers(key);
  if (values.length >= 3) return values;
  throw new UnsupportedModelError(
    `Cannot prepare images: ${key} has ${values.length} values, not one for each colour`,
  );
}

/** Limits in pixels, if the projector leaves a choice. The caller's take precedence. */
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

/**
 * All rectangles of at most `tiles` squares per side except the single square, narrow ones first.
 */
function canvasesOf(tiles: number, side: number): Size[] {
  const counts = Array.from({ length: tiles }, (_, index) => index + 1);
  return counts
    .flatMap((columns) => counts.map((rows) => ({ width: columns * side, height: rows * side })))
    .slice(1);
}

/** The differences if the file lists the canvases itself. */
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
