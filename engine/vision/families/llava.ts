// CLIP (Radford et al. 2021) with an MLP, as in LLaVA (Liu et al. 2023): a vision transformer with
// a class token, learned positions and LayerNorm, whose output is that of blocks before the last.
// Positions begin with that of the class token, which does not become a token of the prompt, as in
// the original model.

import type { FloatRows } from "../../../kernels/mod.ts";
import { learnedPositions, loadTwice, projectTwice } from "../network/blocks.ts";
import type { ImageBuilder } from "../network/builder.ts";
import { between, outputsOf, type VisionFamily } from "../network/family.ts";

/** LLaVA. */
export const llava: VisionFamily = {
  projector: "mlp",
  pictures: {
    method: "fixed",
    // The mean of the normalisation in bytes, so that bars are near zero.
    background: [122, 116, 104],
    namesCanvases: true,
  },
  marks: between("", ""),
  mayBeSwapped: true,
  // Models with SigLIP instead of CLIP have no class token.
  classToken: ({ tensors }, { usualPatches }) =>
    tensors.has("v.class_embd") ||
    tensors.get("v.position_embd.weight")?.shape[1] === usualPatches + 1,
  readsSomeLayers: true,
  columns: outputsOf("mm.2.weight"),
  async build(image) {
    const { network, top } = image;
    const features = await readFeatures(image);
    const names = ["mm.0.weight", "mm.2.weight"] as const;
    const [first, second] = await loadTwice(top, names, features.columns);
    return { output: projectTwice(network, network.input(features, first), first, second) };
  },
};

/** The outputs of the blocks in "feature_layer", side by side. */
async function readFeatures(image: ImageBuilder): Promise<FloatRows> {
  const { network, config } = image;
  const { layers: count, width } = config;
  // Numbers of blocks whose output is read. By default it is that of the last block but one.
  const wanted = [...new Set(config.numbers("feature_layer"))]
    .map((block) => block < 0 ? count + 1 + block : block)
    .sort((a, b) => a - b);
  const last = wanted.at(-1) ?? count - 1;
  const x = await image.patches(
    learnedPositions(image, image.options.extraRows > 0 ? { classToken: "first" } : {}),
  );
  image.normalizeIfThere(x, "v.pre_ln");
  const features = wanted.length > 1 ? network.scratch("features", wanted.length * width) : x;
  const read = (block: number) => {
    const at = wanted.indexOf(block);
    if (features === x || at < 0) return;
    network.elementwise("copy", { rows: features, first: at * width, columns: width }, {
      x: { rows: x },
    });
  };
  for (const layer of image.layers(last)) {
    read(layer.index);
    await image.transform(layer, x);
  }
  image.normalizeIfThere(x, "v.post_ln");
  read(last);
  return features;
}
