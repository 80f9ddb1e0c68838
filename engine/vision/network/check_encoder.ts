// Holds the sizes of an image encoder against its tensors, before anything is computed from them. The
// shape of each tensor is checked where it is loaded.

import { GgufError } from "../../errors.ts";
import type { GgufFile } from "../../gguf/mod.ts";
import { layerOf } from "../../weights/mod.ts";
import { CHANNELS } from "./patch_grid.ts";
import type { VisionConfig } from "./config.ts";

/** A dispatch has no more workgroups on a side, and many have one for each patch. */
export const MOST_PATCHES = 65_534;

/** Errors: GgufError naming the key that does not go together with the tensors. */
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
  // A matrix of whole patches, or a convolution of [width, height, frames, channels * outputs].
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
