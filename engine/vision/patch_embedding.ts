// The matrices that embed patches. An encoder of videos has one for each of two frames, which for an
// image are the same, so that its patches go through both. Some files have them in one tensor.

import type { Layer } from "../nn/mod.ts";
import type { Stack } from "../weights.ts";
import { CHANNELS } from "./patch_grid.ts";
import type { VisionWeights } from "./vision_weights.ts";

/** The matrices [width, columns] whose products make up a patch's embedding. Errors: GgufError. */
export async function loadPatchEmbedding(
  top: Layer,
  weights: VisionWeights,
  columns: number,
): Promise<Stack[]> {
  const name = "v.patch_embd.weight";
  const shape = weights.shapeOf(name);
  if (shape.length === 4) return [sumFrames(weights, name, shape)];
  const names = [name, `${name}.1`].filter((name) => top.has(name));
  return await Promise.all(names.map((name) => top.stack([name], columns)));
}

/** The sum of a convolution's matrices for each frame: frames lie between channels and pixels. */
function sumFrames(weights: VisionWeights, name: string, shape: readonly number[]): Stack {
  const [width, height, frames, outputsByChannels] = shape;
  const pixels = width * height;
  const columns = CHANNELS * pixels;
  return weights.derived(
    name,
    { rows: outputsByChannels / CHANNELS, columns },
    (values, row, column) => {
      const channel = row * CHANNELS + Math.floor(column / pixels);
      let sum = 0;
      for (let frame = 0; frame < frames; frame++) {
        sum += values[(channel * frames + frame) * pixels + column % pixels];
      }
      return sum;
    },
  );
}
