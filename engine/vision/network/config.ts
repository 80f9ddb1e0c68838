// The numbers of an image encoder from its metadata, `<prefix>.*`, and a check of them against its
// tensors. All norms have the same epsilon. The activation function of the blocks is a flag outside
// of the prefix.

import type { ActivationFunction } from "../../../kernels/mod.ts";
import { GgufError } from "../../errors.ts";
import type { GgufFile } from "../../gguf/mod.ts";
import { Config } from "../../nn/mod.ts";
import { layerOf } from "../../weights/mod.ts";
import { CHANNELS } from "./patch_grid.ts";

/**
 * Typed access to an encoder's metadata. All methods throw GgufError for a value of another type.
 */
export class VisionConfig extends Config {
  /** Side of a patch, in pixels. */
  get patchSize(): number {
    return this.count("patch_size");
  }

  /** Patches of an image of the size in the file; 0 if the file has none. */
  get usualPatches(): number {
    return Math.floor(this.countOr("image_size", 0) / this.patchSize) ** 2;
  }

  /**
   * The activation function of the blocks: by `clip.use_gelu` or `clip.use_silu`, or else quick
   * GELU.
   */
  get activation(): ActivationFunction {
    const says = (flag: string) => this.metadata.optionalBoolean(`clip.${flag}`, false);
    return says("use_gelu") ? "gelu" : says("use_silu") ? "silu" : "quick_gelu";
  }

  override epsilon(): number {
    return this.numberOr("attention.layer_norm_epsilon", 1e-6);
  }
}

/**
 * Most patches of an image. Many dispatches have a workgroup for each patch, and WebGPU allows
 * 65,535.
 */
export const MOST_PATCHES = 65_534;

/**
 * Checks the number of layers and the width against the tensors. Errors: GgufError naming the key
 * that contradicts them.
 */
export function checkEncoder({ path, tensors }: GgufFile, config: VisionConfig): void {
  let there = 0;
  for (const name of tensors.keys()) there = Math.max(there, layerOf(name, "v.blk.") + 1);
  const declared = config.size("block_count");
  if (declared > there) {
    throw config.error("block_count", `${declared}, but the file has tensors of ${there} layers`);
  }
  const name = "v.patch_embd.weight";
  const shape = tensors.get(name)?.shape;
  if (!shape) throw new GgufError(path, `tensor "${name}"`, "it is missing");
  // Either a matrix of whole patches, or a convolution [width, height, frames, channels * outputs].
  const pixels = shape.length === 4 ? shape[0] * shape[1] : shape[0] / CHANNELS;
  if (pixels !== config.size("patch_size") ** 2) {
    const state = `${config.patchSize}, but a row of "${name}" has ${pixels} pixels`;
    throw config.error("patch_size", state);
  }
  const width = shape.length === 4 ? shape[3] / CHANNELS : shape[1] ?? 1;
  if (width !== config.width) {
    const state = `${config.width}, but "${name}" makes rows of ${width} values`;
    throw config.error("embedding_length", state);
  }
  if (config.usualPatches > MOST_PATCHES) {
    throw config.error("image_size", `${config.countOr("image_size", 0)} pixels are too many`);
  }
}
