// The matrices that embed patches. An encoder of videos has one for each of two frames. An image is
// a video of two equal frames, so its patches are multiplied by both. Some files have both in one
// tensor.

import type { Layer } from "../../nn/mod.ts";
import type { Stack } from "../../weights/mod.ts";
import { CHANNELS } from "./patch_grid.ts";
import type { VisionWeights } from "./weights.ts";

const WEIGHT = "v.patch_embd.weight";

/** The options of a patch embedding. */
export interface PatchEmbeddingConfig {
  /** Frames of a video in a patch. Default 1. */
  frames?: 1 | 2;
  /** Whether there always is a bias. Default "optional". */
  bias?: "required" | "optional";
}

/**
 * The matrices [width, columns] whose products add up to a patch's embedding. Errors: GgufError.
 */
export async function loadPatchEmbedding(
  top: Layer,
  weights: VisionWeights,
  columns: number,
  { frames = 1, bias = "optional" }: PatchEmbeddingConfig,
): Promise<Stack[]> {
  const { width } = top.config;
  if (weights.inventory.find(WEIGHT).shape.length === 4) {
    return [sumFrames(weights, frames, { rows: width, columns })];
  }
  const first = await top.matrix(WEIGHT, width, columns, { bias });
  // The first matrix has the bias of both.
  const second = { name: `${WEIGHT}.1`, rows: width };
  return frames === 1 ? [first] : [first, await top.stack([second], columns)];
}

/** The sum of a convolution's matrices for each frame. Frames lie between channels and pixels. */
function sumFrames(
  weights: VisionWeights,
  frames: number,
  { rows, columns }: { rows: number; columns: number },
): Stack {
  const pixels = columns / CHANNELS;
  const side = Math.sqrt(pixels);
  const shape = [side, side, frames, CHANNELS * rows];
  return weights.derived(WEIGHT, shape, { rows, columns }, (values, row, column) => {
    const channel = row * CHANNELS + Math.floor(column / pixels);
    let sum = 0;
    for (let frame = 0; frame < frames; frame++) {
      sum += values[(channel * frames + frame) * pixels + column % pixels];
    }
    return sum;
  });
}
