// The encoder of Gemma 3 (Gemma Team 2025): SigLIP, whose patches are averaged by squares. In the
// decoder the rows of an image attend to each other in both directions.

import type { GgufFile, MetadataValue } from "../../gguf/mod.ts";
import { encodeSigLip, meanVector } from "../network/blocks.ts";
import type { ImageBuilder, RowValues } from "../network/builder.ts";
import { between, HALVES, outputsOf, type VisionFamily } from "../network/family.ts";
import { loadProjection } from "../../encoder/mod.ts";

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

// The encoder of Gemma 4 (Gemma Team 2026): RMSNorm before and after each block, norms of queries,
// keys and values, GeGLU, and rotary positions of columns and rows in addition to learned ones,
// which have a table for each axis. Squares of patches are averaged. Matrices may have bounds.

/** Gemma 4. */
export const gemma4: VisionFamily = {
  projector: "gemma4v",
  pictures: { method: "dynamic", tokens: [40, 280], merge: ["projector.scale_factor", 3] },
  marks: between("<|image>", "<image|>"),
  // In E2B and E4B, which have per-layer embeddings, rows of an image attend only to earlier ones.
  isBidirectional: (decoder) => decoder.countOr("embedding_length_per_layer_input", 0) === 0,
  decoders: {
    gemma4: {
      encoder: { mean: [0, 0, 0], std: [1, 1, 1], keys: () => ({ image_size: 224 }) },
      decoder: {
        tokenizer: ({ metadata }): Record<string, MetadataValue> =>
          metadata["tokenizer.ggml.model"] === "llama" ? { "tokenizer.ggml.model": "gemma4" } : {},
        tensors: [[/\.ffn_gate_inp\.per_expert_scale$/, ".ffn_down_exps.scale"]],
      },
    },
  },
  columns: outputsOf("mm.input_projection.weight"),
  pixels: { scale: 2, offset: -1 },
  async build(image) {
    const { top, config, weights } = image;
    const { headDim } = config.heads();
    const base = config.numberOr("rope.freq_base", 100);
    const rotations = image.rotations({ headDim, base, first: "column", distance: headDim / 4 });
    const x = await image.patches(axisPositions(image));
    image.normalizeIfThere(x, "v.pre_ln", "rms");
    for (const layer of image.layers()) {
      await image.transform(layer, x, {
        norm: "rms",
        gated: true,
        postNorms: true,
        rotations,
        scale: 1,
        valueNorm: true,
      });
    }
    image.normalizeIfThere(x, "v.post_ln", "rms");
    const { network, x: joined } = image.tokens(x);
    const rows = meanVector(network, joined, config.width);
    network.elementwise("scale", { rows }, { factor: Math.sqrt(config.width) });
    if (top.hasAll(["v.std_bias", "v.std_scale"])) {
      const valuesOf = (name: string) => weights.values(name, [config.width]);
      const row = (name: string) => ({ rows: network.memory.rows(name, valuesOf(name)) });
      const bias = { x: row("v.std_bias"), broadcast: true, factor: -1 };
      network.elementwise("add", { rows }, bias);
      network.elementwise("multiply", { rows }, { x: row("v.std_scale"), broadcast: true });
    }
    const name = "mm.input_projection.weight";
    const matrix = top.all(name, top.size(0, [[name, 1]]));
    const projection = await loadProjection(top, [matrix], config.width, network);
    const norm = { kind: "rms", epsilon: config.epsilon() } as const;
    const output = network.scratch("embeddings", projection.columns);
    projection.run(network.norm(rows, norm, projection), output);
    return { output };
  },
};

/**
 * The rows of v.position_embd, which has a table for the columns of an image and one for its rows.
 */
function axisPositions({ top, weights, config: { width } }: ImageBuilder): RowValues {
  const size = top.size(0, [["v.position_embd.weight", 1]]);
  const table = weights.values("v.position_embd.weight", [width, size, 2]);
  return (grid, rows) => {
    if (Math.max(grid.columns, grid.rows) > size) {
      throw new RangeError(
        `Cannot encode an image of ${grid.columns} x ${grid.rows} patches: ` +
          `this encoder takes at most ${size} on each side`,
      );
    }
    const values = new Float32Array(rows * width);
    for (let row = 0; row < grid.patches; row++) {
      const [x, y] = [grid.xs[row] * width, (size + grid.ys[row]) * width];
      for (let i = 0; i < width; i++) values[row * width + i] = table[x + i] + table[y + i];
    }
    return values;
  };
}
