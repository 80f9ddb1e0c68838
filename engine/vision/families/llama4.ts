// The encoder of Llama 4 (Meta 2025): LayerNorm, GELU, learned positions, and rotary ones of
// columns and rows, which count from one because a class token is at the origin. Squares of patches
// become tokens (pixel shuffle), which are ordered by column.

import { learnedPositions, loadTwice } from "../network/blocks.ts";
import { between, HALVES, outputsOf, type VisionFamily } from "../network/family.ts";

/** Llama 4. */
export const llama4: VisionFamily = {
  projector: "llama4",
  pictures: { method: "tiled", tiles: 3, merge: ["projector.scale_factor", 1] },
  marks: between("<|image_start|>", "<|image_end|>"),
  decoders: {
    llama4: {
      encoder: {
        flag: "use_gelu",
        ...HALVES,
        keys: (metadata) => ({
          "attention.layer_norm_epsilon": metadata.optionalNumber(
            "llama4.vision.layer_norm_epsilon",
            1e-5,
          ),
          "projector.scale_factor": Math.round(
            1 / metadata.optionalNumber("llama4.vision.pixel_shuffle_ratio", 0.5),
          ),
        }),
        names: [[/^mm\.linear_1\./, "mm.model.fc."]],
      },
    },
  },
  columnsFirst: true,
  classToken: () => true,
  columns: outputsOf("mm.model.fc.weight"),
  async build(image) {
    const { top, config } = image;
    const { headDim } = config.heads();
    const base = config.numberOr("rope.freq_base", 10000);
    const rotations = image.rotations({ headDim, base, first: "column", distance: 1, origin: 1 });
    const x = await image.patches(learnedPositions(image, { classToken: "last" }));
    image.normalize(x, "v.pre_ln");
    for (const layer of image.layers()) await image.transform(layer, x, { rotations });
    image.normalize(x, "v.post_ln");
    const { network, x: joined } = image.tokens(x);
    const names = ["mm.model.mlp.1.weight", "mm.model.mlp.2.weight"] as const;
    const last = "mm.model.fc.weight";
    const read = [[last, 0]] as const;
    const [first, second] = await loadTwice(top, names, joined.columns, "optional", read);
    const outputs = top.size(0, [[last, 1]]);
    const projection = await top.matrix(last, outputs, second.columns);
    const hidden = network.linear(network.input(joined, first), first, "first");
    const activated = network.activate(hidden, first.columns, "gelu", second);
    const adapted = network.linear(activated, second, "second");
    const input = network.activate(adapted, second.columns, "gelu", projection);
    return { output: network.linear(input, projection, "embeddings") };
  },
};
