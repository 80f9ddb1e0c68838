// SigLIP (Zhai et al. 2023): a vision transformer with learned positions and LayerNorm. Gemma 3
// (Gemma Team 2025) averages squares of its patches; Idefics3 and SmolVLM (Laurençon et al. 2024,
// Marafioti et al. 2025) join them, which is pixel shuffle.

import type { FloatRows } from "../../../kernels/mod.ts";
import { learnedPositions, meanVector } from "../network/blocks.ts";
import type { ImageBuilder } from "../network/builder.ts";
import { type EncoderFamily, outputsOf } from "../network/family.ts";

/** Gemma 3: the mean of each square of patches, normed and projected. */
export const gemma3: EncoderFamily = {
  merge: (config) => config.countOr("projector.scale_factor", 4),
  // This matrix is stored as the transpose of what all others are.
  columns: outputsOf("mm.input_projection.weight", 0),
  async build(image) {
    const { weights, top, config: { width } } = image;
    const name = "mm.input_projection.weight";
    const { network, x } = image.tokens(await encodePatches(image));
    const pooled = meanVector(network, x, width);
    const outputs = top.size(0, [[name, 0]]);
    const projection = weights.derived(
      name,
      [outputs, width],
      { rows: outputs, columns: width },
      (values, row, column) => values[column * outputs + row],
    );
    const normed = network.norm(pooled, top.norm("mm.soft_emb_norm"), projection);
    return { output: network.linear(normed, projection, "embeddings") };
  },
};

/** Idefics3 and SmolVLM: each square of patches as one vector, projected. */
export const idefics3: EncoderFamily = {
  merge: (config) => config.countOr("projector.scale_factor", 1),
  columns: outputsOf("mm.model.fc.weight"),
  async build(image) {
    const { network, x } = image.tokens(await encodePatches(image));
    const name = "mm.model.fc.weight";
    const outputs = image.top.size(0, [[name, 1]]);
    const projection = await image.top.matrix(name, outputs, x.columns);
    return { output: network.linear(network.input(x, projection), projection, "embeddings") };
  },
};

async function encodePatches(image: ImageBuilder): Promise<FloatRows> {
  const x = await image.patches(learnedPositions(image), { bias: "required" });
  for (const layer of image.layers()) await image.transform(layer, x);
  image.normalize(x, "v.post_ln");
  return x;
}
