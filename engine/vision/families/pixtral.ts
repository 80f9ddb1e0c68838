// Pixtral (Agrawal et al. 2024) and the encoder of Mistral Small 3.1: RMSNorm, SwiGLU, rotary
// positions of rows and columns with alternating frequencies. Mistral 3 joins squares of patches. A
// break token ends every row of tokens except the last.

import type { GgufFile, MetadataReader, MetadataValue, TensorInfo } from "../../gguf/mod.ts";
import { LINE_BREAK, loadTwice, projectTwice } from "../network/blocks.ts";
import { between, CLIP_PIXELS, outputsOf, type VisionFamily } from "../network/family.ts";
import type { PatchGrid } from "../network/patch_grid.ts";

/** Pixtral and Mistral 3. */
export const pixtral: VisionFamily = {
  projector: "pixtral",
  pictures: { method: "dynamic", tokens: [8, 1024], merge: ["spatial_merge_size", 1] },
  // The break token is a row of the image's embeddings, so it is not part of the marks.
  marks: between("", "[IMG_END]"),
  decoders: {
    mistral3: {
      encoder: {
        flag: "use_silu",
        ...CLIP_PIXELS,
        keys: (metadata) => ({
          "attention.layer_norm_epsilon": 1e-5,
          spatial_merge_size: metadata.optionalCount("mistral3.spatial_merge_size", 2),
          // Queries and keys are as in the original model, while other converters reorder them.
          "rope.pairs": "half",
        }),
        names: [[/^mm\.linear_([12])\./, "mm.$1."]],
        tensors: breakEmbedding,
      },
      decoder: {
        keys: {
          "rope.scaling.yarn_beta_fast": ["rope.scaling.beta_fast"],
          "rope.scaling.yarn_beta_slow": ["rope.scaling.beta_slow"],
          "rope.scaling.yarn_log_multiplier": ["rope.scaling.mscale_all_dim"],
          "attention.temperature_scale": ["rope.scaling_beta"],
        },
        tokenizer: ({ metadata }): Record<string, MetadataValue> => {
          const { "tokenizer.ggml.pre": rule = "default" } = metadata;
          return rule === "default" && "mistral3.vision.block_count" in metadata
            ? { "tokenizer.ggml.pre": "tekken" }
            : {};
        },
      },
    },
  },
  columns: outputsOf("mm.2.weight"),
  async build(image) {
    const { top, config, weights, options: { merge } } = image;
    const { headDim } = config.heads();
    const base = config.numberOr("rope.freq_base", 10000);
    const distance = config.stringOr("rope.pairs", "adjacent") === "half" ? headDim / 2 : 1;
    const rotations = image.rotations({ headDim, base, first: "row", distance, interleaved: true });
    const x = await image.patches();
    image.normalize(x, "v.pre_ln", "rms");
    for (const layer of image.layers()) {
      await image.transform(layer, x, { norm: "rms", gated: true, rotations });
    }
    image.normalizeIfThere(x, "v.post_ln", "rms");
    const isMerged = top.hasAll(["mm.input_norm.weight", "mm.patch_merger.weight"]);
    if (isMerged) image.normalize(x, "mm.input_norm", "rms");
    const { network, x: joined } = image.tokens(x);
    let patches = joined;
    if (isMerged) {
      // The columns in the file are ordered by channel, then patch; here they are ordered by patch,
      // then channel.
      const size = merge ** 2;
      const merger = weights.derived(
        "mm.patch_merger.weight",
        [joined.columns, config.width],
        { rows: config.width, columns: joined.columns },
        (values, row, column) => {
          const [patch, channel] = [Math.floor(column / config.width), column % config.width];
          return values[row * joined.columns + channel * size + patch];
        },
      );
      patches = network.linear(network.input(joined, merger), merger, "merged");
    }
    const names = ["mm.1.weight", "mm.2.weight"] as const;
    const [first, second] = await loadTwice(top, names, patches.columns);
    const output = projectTwice(network, network.input(patches, first), first, second);
    const lineBreak = weights.values(LINE_BREAK, [second.columns]);
    return {
      output,
      breaksLines: true,
      finish: (tokens, grid) => breakLines(tokens, grid, lineBreak),
    };
  },
};

/** The rows of tokens with a break after each except the last. */
function breakLines(tokens: Float32Array, grid: PatchGrid, lineBreak: Float32Array): Float32Array {
  const { merge } = grid.layout;
  const lines = grid.rows / merge;
  const length = grid.columns / merge * lineBreak.length;
  const broken = new Float32Array(tokens.length + (lines - 1) * lineBreak.length);
  for (let line = 0; line < lines; line++) {
    const to = line * (length + lineBreak.length);
    broken.set(tokens.subarray(line * length, (line + 1) * length), to);
    if (line < lines - 1) broken.set(lineBreak, to + length);
  }
  return broken;
}

/** The embedding of the break token, which is a row of the decoder's embeddings. */
function breakEmbedding(metadata: MetadataReader, gguf: GgufFile): TensorInfo[] {
  const table = gguf.tensors.get("token_embd.weight");
  const tokens = metadata.optionalStrings<readonly string[]>("tokenizer.ggml.tokens", []);
  const token = tokens.indexOf("[IMG_BREAK]");
  if (!table || token < 0) return [];
  const byteLength = table.byteLength / table.shape[1];
  const offset = table.offset + token * byteLength;
  return [{ ...table, name: LINE_BREAK, shape: [table.shape[0]], byteLength, offset }];
}
