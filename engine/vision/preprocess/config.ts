// What a vision model's file says of how pictures are to be prepared, and what it leaves to the
// program. That part is fixed here per type of projector, as llama.cpp has it in
// tools/mtmd/clip.cpp (load_hparams) and clip-model.h (clip_hparams).

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

interface Projector {
  readonly method: Method;
  readonly filter?: Filter;
  readonly background?: Color;
  /** Key and default of `merge`. */
  readonly merge?: readonly [key: string, value: number];
  /** Fewest and most tokens of a picture. */
  readonly tokens?: readonly [min: number, max: number];
  /** Most tiles per side. */
  readonly tiles?: number;
}

/** Pairs of width and height: canvases for tiles, which LLaVA 1.6 brings along. */
const GRID_PINPOINTS = "clip.vision.image_grid_pinpoints";
const SCALE_FACTOR = "clip.vision.projector.scale_factor";
const MERGE_SIZE = "clip.vision.spatial_merge_size";

const QWEN: Projector = { method: "dynamic", merge: [MERGE_SIZE, 2], tokens: [8, 4096] };

/** By the name in the file. The filter is bicubic and the background black if not said otherwise. */
const PROJECTORS: Record<string, Projector> = {
  "gemma3": { method: "fixed", filter: "bilinear", merge: [SCALE_FACTOR, 4] },
  "gemma4v": { method: "dynamic", merge: [SCALE_FACTOR, 3], tokens: [40, 280] },
  "idefics3": { method: "idefics3", filter: "lanczos", merge: [SCALE_FACTOR, 1] },
  "llama4": { method: "tiled", merge: [SCALE_FACTOR, 1], tiles: 3 },
  // The mean of its normalisation in bytes, so that bars are near zero.
  "mlp": { method: "fixed", background: [122, 116, 104] },
  "pixtral": { method: "dynamic", merge: [MERGE_SIZE, 1], tokens: [8, 1024] },
  "qwen2.5vl_merger": QWEN,
  "qwen3vl_merger": QWEN,
};

/**
 * Reads what preparing pictures depends on.
 *
 * @param metadata of the file with the projector
 * @param limits of the caller, in place of the model's
 * @throws {UnsupportedModelError} if the type of projector is not known
 */
export function readPreprocessing(
  metadata: MetadataReader,
  limits: TokenLimits = {},
): PreprocessingConfig {
  const name = metadata.optionalString("clip.projector_type", "") ||
    metadata.optionalString("clip.vision.projector_type", "mlp");
  const projector = Object.hasOwn(PROJECTORS, name) ? PROJECTORS[name] : undefined;
  if (!projector) {
    throw new UnsupportedModelError(`Cannot prepare images: projector type "${name}" is not known`);
  }
  const imageSize = metadata.count("clip.vision.image_size");
  const patchSize = metadata.count("clip.vision.patch_size");
  const [mergeKey, mergeDefault] = projector.merge ?? [SCALE_FACTOR, 1];
  const merge = metadata.optionalCount(mergeKey, mergeDefault);
  return {
    method: projector.method,
    filter: projector.filter ?? "bicubic",
    background: projector.background ?? BLACK,
    imageSize,
    patchSize,
    merge,
    ...pixelLimits(projector.tokens, limits, (patchSize * merge) ** 2),
    longestEdge: metadata.optionalCount("clip.vision.preproc_image_size", imageSize),
    canvases: canvasesOf(projector.tiles ?? 1, imageSize),
    isOverviewFirst: false,
    mean: readChannels(metadata, "clip.vision.image_mean"),
    std: readChannels(metadata, "clip.vision.image_std"),
    ...(name === "mlp" && pinpointTiles(metadata)),
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
  const sides = metadata.optionalNumbers(GRID_PINPOINTS, []);
  if (sides.length === 0) return {};
  const canvases = Array.from({ length: sides.length / 2 }, (_, index) => ({
    width: sides[2 * index],
    height: sides[2 * index + 1],
  }));
  return { method: "tiled", background: BLACK, canvases, isOverviewFirst: true };
}
