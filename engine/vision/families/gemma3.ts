// The encoder of Gemma 3 (Gemma Team 2025): SigLIP, whose patches are averaged by squares. In the
// decoder the rows of an image attend to each other in both directions.

import type { GgufFile, MetadataValue } from "../../gguf/mod.ts";
import { encodeSigLip, meanVector } from "../network/blocks.ts";
import { between, HALVES, outputsOf, type VisionFamily } from "../network/family.ts";

/** Gemma 3: the mean of each square of patches, normed and projected. */
export const gemma3: VisionFamily = {
  projector: "gemma3",
  pictures: { method: "fixed", filter: "bilinear", merge: ["projector.scale_factor", 4] },
  marks: between("<start_of_image>", "<end_of_image>"),
  isBidirectional: () => true,
  mayBeSwapped: true,
  decoders: {
    gemma3: {
      encoder: {
        flag: "use_gelu",
        ...HALVES,
        keys: (metadata) => {
          const tokens = metadata.optionalCount("gemma3.mm.tokens_per_image", 256);
          const [image, patch] = ["image_size", "patch_size"].map((key) =>
            metadata.count(`gemma3.vision.${key}`)
          );
          return { "projector.scale_factor": Math.floor(image / patch / Math.sqrt(tokens)) };
        },
      },
      decoder: { tokenizer: trimVocabulary },
    },
  },
  // Unlike all others, this matrix is stored transposed.
  columns: outputsOf("mm.input_projection.weight", 0),
  async build(image) {
    const { weights, top, config: { width } } = image;
    const name = "mm.input_projection.weight";
    const { network, x } = image.tokens(await encodeSigLip(image));
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

/** Most tokens without an embedding at the end of a vocabulary. */
const MOST_SURPLUS = 16;

/** Removes tokens without embeddings, which stand for images, from the end of the vocabulary. */
function trimVocabulary({ metadata, tensors }: GgufFile): Record<string, MetadataValue> {
  const size = tensors.get("token_embd.weight")?.shape[1];
  const tokens = metadata["tokenizer.ggml.tokens"];
  const surplus = typeof tokens === "object" && size !== undefined ? tokens.length - size : 0;
  if (surplus > MOST_SURPLUS) return {};
  const lists = ["tokens", "scores", "token_type"].map((list) => `tokenizer.ggml.${list}`);
  return Object.fromEntries(
    lists.filter((key) => typeof metadata[key] === "object")
      .map((key) => [key, (metadata[key] as MetadataValue[]).slice(0, size)]),
  );
}
