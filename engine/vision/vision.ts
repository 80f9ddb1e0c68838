// What a file says of how a model sees: which encoder it has, how pictures are prepared for it, and
// how many tokens one can take. Headers alone; weights are read by encoder.ts.

import { GgufError, UnsupportedModelError } from "../errors.ts";
import { type GgufFile, MetadataReader } from "../gguf/mod.ts";
import { PROJECTOR_TYPES } from "./encoders/registry.ts";
import { readEncoderHeader } from "./header.ts";
import { type PreprocessingConfig, readPreprocessing, type TokenLimits } from "./preprocess/mod.ts";

/** How a model sees. */
export interface Vision {
  /** Such as "gemma3". */
  readonly projectorType: string;
  readonly preprocessing: PreprocessingConfig;
  /** Most tokens of an image, or of a tile of one. */
  readonly mostTokens: number;
}

/**
 * Reads the header of a file with an image encoder.
 *
 * @param limits of the caller, in place of the model's
 * @throws {UnsupportedModelError} if it has none, or none that runs
 * @throws {GgufError} if a value is missing or of another type
 */
export function readVision(file: GgufFile, limits: TokenLimits = {}): Vision {
  const { gguf, projectorType } = readEncoderHeader(file);
  if (!PROJECTOR_TYPES.includes(projectorType)) {
    throw new UnsupportedModelError(
      `Cannot load "${file.path}": projector type "${projectorType}" is not supported`,
    );
  }
  const preprocessing = readPreprocessing(new MetadataReader(gguf), limits);
  const { method, imageSize, maxPixels, patchSize, merge } = preprocessing;
  const pixels = method === "dynamic" ? maxPixels : imageSize ** 2;
  return { projectorType, preprocessing, mostTokens: Math.ceil(pixels / (patchSize * merge) ** 2) };
}

/** Whether a file has an image encoder that runs. */
export function hasVision(file: GgufFile): boolean {
  try {
    readVision(file);
    return true;
  } catch (error) {
    if (error instanceof UnsupportedModelError || error instanceof GgufError) return false;
    throw error;
  }
}
