// How a model reads images, according to headers: its encoder, whether that fits the decoder, how
// pictures are preprocessed, and how many tokens one can take. encoder.ts reads the weights.

import { GgufError, UnsupportedModelError } from "../errors.ts";
import { type GgufFile, MetadataReader } from "../gguf/mod.ts";
import { Config } from "../nn/mod.ts";
import { readEncoderHeader, viewAsDecoder } from "./files/encoder_file.ts";
import type { VisionFamily } from "./network/family.ts";
import {
  mostPatches,
  type PreprocessingConfig,
  readPreprocessing,
  type TokenLimits,
} from "./preprocess/mod.ts";

/** How a model reads images. */
export interface Vision {
  readonly family: VisionFamily;
  readonly preprocessing: PreprocessingConfig;
  /** Most patches of an image, or of a tile of one, and the number of tokens that they become. */
  readonly mostPatches: number;
  readonly mostTokens: number;
  /** Floats of a row from the encoder: the embedding, and parts for deepstack layers. */
  readonly columns: number;
}

/**
 * Reads the header of a file with an image encoder.
 *
 * @param limits of the caller, instead of the model's
 * @throws {UnsupportedModelError} if it has none, or none that is supported
 * @throws {GgufError} if a value is missing or of another type
 */
export function readVision(file: GgufFile, limits: TokenLimits = {}): Vision {
  const { gguf, family } = readEncoderHeader(file);
  const columns = family.columns(gguf);
  const preprocessing = readPreprocessing(new MetadataReader(gguf), family.pictures, limits);
  const patches = mostPatches(preprocessing);
  const tokens = Math.ceil(patches / preprocessing.merge ** 2);
  return { family, preprocessing, mostPatches: patches, mostTokens: tokens, columns };
}

/**
 * Reads the header of a file with an image encoder for a given decoder.
 *
 * @param file the file with the encoder: the decoder's own, or another one
 * @throws the errors of {@linkcode readVision}
 * @throws {UnsupportedModelError} if the decoder takes rows of another width
 */
export function readVisionOf(decoder: GgufFile, file: GgufFile, limits?: TokenLimits): Vision {
  const vision = readVision(file, limits);
  const columns = imageColumns(decoder);
  if (vision.columns === columns) return vision;
  throw new UnsupportedModelError(
    `Cannot read images with "${file.path}": it makes rows of ${vision.columns} values, and ` +
      `"${decoder.path}" takes rows of ${columns}; use the projector that was made for the model`,
  );
}

/**
 * The reason why a decoder cannot read images with the encoder of a file, for people; undefined if
 * it can.
 */
export function visionFault(decoder: GgufFile, file: GgufFile): string | undefined {
  try {
    readVisionOf(decoder, file);
    return undefined;
  } catch (error) {
    if (error instanceof UnsupportedModelError || error instanceof GgufError) return error.message;
    throw error;
  }
}

/** Floats of an image's row that a decoder takes: its width, and again for each deepstack layer. */
function imageColumns(decoder: GgufFile): number {
  const metadata = new MetadataReader(viewAsDecoder(decoder));
  const config = new Config(metadata, decoder.path, metadata.string("general.architecture"));
  return config.width * (1 + config.countOr("n_deepstack_layers", 0));
}
