// Qwen2.5-VL (Bai et al. 2025): RMSNorm, SwiGLU, rotary positions of rows and columns. Most blocks
// attend within windows of 112 pixels, some to the whole image. Squares of patches become tokens.

import type { FloatRows } from "../../../kernels/mod.ts";
import { loadTwice, projectTwice } from "../network/blocks.ts";
import type { ImageBuilder, RowValues } from "../network/builder.ts";
import type { VisionConfig } from "../network/config.ts";
import {
  between,
  CLIP_PIXELS,
  HALVES,
  MROPE_SECTIONS,
  type OllamaDecoder,
  type OllamaEncoder,
  outputsOf,
  type VisionFamily,
} from "../network/family.ts";
import type { GridRope } from "../network/patch_grid.ts";
import { shifted, type Windows } from "../../encoder/mod.ts";

/** The preprocessing of Qwen's encoders, and the marks of their images. */
export const QWEN_PICTURES = {
  pictures: { method: "dynamic", tokens: [8, 4096], merge: ["spatial_merge_size", 2] },
  marks: between("<|vision_start|>", "<|vision_end|>"),
  usesGrid: true,
} satisfies Partial<VisionFamily>;

/** Qwen2.5-VL. */
export const qwen25vl: VisionFamily = {
  projector: "qwen2.5vl_merger",
  ...QWEN_PICTURES,
  mayBeSwapped: true,
  decoders: {
    qwen25vl: {
      encoder: {
        flag: "use_silu",
        ...CLIP_PIXELS,
        keys: () => ({ image_size: 560, n_wa_pattern: 8 }),
      },
      decoder: { keys: MROPE_SECTIONS },
    },
  },
  columns: outputsOf("mm.2.weight"),
  async build(image) {
    const { top } = image;
    const windows = windowsOf(image);
    const rotations = image.rotations(ropeOf(image.config));
    const seesAll = wholeLayers(image.config);
    const x = await image.patches(undefined, { frames: 2 });
    for (const layer of image.layers()) {
      const seen = seesAll(layer.index) ? {} : { windows };
      await image.transform(layer, x, { norm: "rms", gated: true, rotations, ...seen });
    }
    image.normalize(x, "v.post_ln", "rms");
    const { network, x: joined } = image.tokens(x);
    const names = ["mm.0.weight", "mm.2.weight"] as const;
    const [first, second] = await loadTwice(top, names, joined.columns, "required");
    return { output: projectTwice(network, network.input(joined, first), first, second) };
  },
};

/**
 * The first half of a head's pairs rotates by the row. The elements of a pair are half a head
 * apart.
 */
export function ropeOf(config: VisionConfig): GridRope {
  const { headDim } = config.heads();
  const base = config.numberOr("rope.freq_base", 10000);
  return { headDim, base, first: "row", distance: headDim / 2 };
}

/** Tells which blocks attend to the whole image. */
function wholeLayers(config: VisionConfig): (layer: number) => boolean {
  const listed = config.numbers("fullatt_block_indexes");
  if (listed.length > 0) return (layer) => listed.includes(layer);
  const period = config.countOr("n_wa_pattern", 0);
  return (layer) => period === 0 || (layer + 1) % period === 0;
}

/** Windows of whole tokens, ordered by row; those at the edges are smaller. */
function windowsOf(image: ImageBuilder): Windows {
  const { config, options: { merge } } = image;
  const pixels = config.countOr("window_size", 112);
  const tokens = Math.max(1, Math.floor(pixels / config.patchSize / merge));
  const side = tokens * merge;
  // Only the window at the lower right can be smaller on both sides.
  const sizes = { largest: side ** 2, smallest: side * merge };
  return image.windows(sizes, (grid, row) => {
    const across = Math.ceil(grid.columns / side);
    return Math.floor(grid.ys[row] / side) * across + Math.floor(grid.xs[row] / side);
  });
}

// Qwen3-VL (Qwen Team 2025): LayerNorm, GELU, rotary positions in addition to learned ones, which
// are interpolated to the size of the image. Some blocks give features to early layers of the
// decoder (DeepStack, Meng et al. 2024): an output row is a token's embedding, followed by one
// slice for each of these.

/** Tensors of blocks that give features to the decoder. */
const DEEP = /^v\.deepstack\.(\d+)\./;

const OLLAMA_ENCODER: OllamaEncoder = {
  flag: "use_gelu",
  ...HALVES,
  keys: (metadata, { metadata: { "general.architecture": architecture }, tensors }) => {
    const table = tensors.get("v.pos_embed.weight") ?? tensors.get("v.position_embd.weight");
    const [, positions = 0] = table?.shape ?? [];
    const patch = metadata.optionalCount(`${architecture}.vision.patch_size`, 16);
    return { image_size: Math.sqrt(positions) * patch };
  },
};

const QWEN3_VL: OllamaDecoder = {
  keys: MROPE_SECTIONS,
  more: (metadata, name) => ({
    "rope.dimension_sections": Int32Array.of(24, 20, 20, 0),
    n_deepstack_layers:
      metadata.optionalNumbers(`${name}.vision.deepstack_visual_indexes`, []).length,
  }),
};

const QWEN3_5: OllamaDecoder = {
  keys: MROPE_SECTIONS,
  tensors: [[/\.ssm_dt$/, ".ssm_dt.bias"]],
};

/** Qwen3-VL and Qwen3.5. */
export const qwen3vl: VisionFamily = {
  projector: "qwen3vl_merger",
  ...QWEN_PICTURES,
  decoders: {
    qwen3vl: { encoder: OLLAMA_ENCODER, decoder: QWEN3_VL },
    qwen3vlmoe: { encoder: OLLAMA_ENCODER, decoder: QWEN3_VL },
    qwen35: { encoder: OLLAMA_ENCODER, decoder: QWEN3_5 },
    qwen35moe: { encoder: OLLAMA_ENCODER, decoder: QWEN3_5 },
  },
  columns(gguf) {
    const blocks = [...gguf.tensors.keys()].flatMap((name) => DEEP.exec(name)?.[1] ?? []);
    return outputsOf("mm.2.weight")(gguf) * (1 + new Set(blocks).size);
  },
  async build(image) {
    const { top, config, network } = image;
    const width = top.size(0, [["mm.2.weight", 1], ["mm.2.bias", 0]]);
    const parts = ["norm", "fc1", "fc2"].flatMap((part) => [`${part}.weight`, `${part}.bias`]);
    const isDeep = (block: number) =>
      top.hasAny(parts.map((part) => `v.deepstack.${block}.${part}`));
    const deep = Array.from({ length: config.layers }, (_, block) => block).filter(isDeep);
    const output = network.scratch("output", width * (1 + deep.length), image.mostTokens);
    const rotations = image.rotations(ropeOf(config));
    const x = await image.patches(stretchedPositions(image), {
      frames: 2,
      bias: "required",
    });
    for (const layer of image.layers()) {
      await image.transform(layer, x, { rotations });
      const slice = 1 + deep.indexOf(layer.index);
      if (slice === 0) continue;
      const name = `v.deepstack.${layer.index}`;
      const names = [`${name}.fc1.weight`, `${name}.fc2.weight`] as const;
      await mergePatches(image, x, { names, norm: `${name}.norm` }, output, slice * width);
    }
    image.normalize(x, "v.post_ln");
    const names = ["mm.0.weight", "mm.2.weight"] as const;
    await mergePatches(image, x, { names }, output, 0);
    return { output, width };
  },
};

/**
 * Columns of the output from `to` on = second(gelu(first(norm(x)))) of the patches that become a
 * token.
 */
async function mergePatches(
  image: ImageBuilder,
  x: FloatRows,
  weights: { norm?: string; names: readonly [first: string, second: string] },
  output: FloatRows,
  to: number,
): Promise<void> {
  const { network, x: joined } = image.tokens(x);
  const { top } = image;
  const [first, second] = await loadTwice(top, weights.names, joined.columns, "required");
  const options = { shape: [joined.columns], bias: "required" } as const;
  const norm = weights.norm && top.norm(weights.norm, "layer", options);
  const input = norm ? network.norm(joined, norm, first) : network.input(joined, first);
  projectTwice(network, input, first, shifted(second, to), output);
}

/**
 * The rows of v.position_embd, a square of positions, interpolated at the positions of the patches.
 */
function stretchedPositions({ top, weights, config }: ImageBuilder): RowValues {
  const { width } = config;
  const places = top.size(config.usualPatches, [["v.position_embd.weight", 1]]);
  const table = weights.values("v.position_embd.weight", [width, places]);
  const side = Math.sqrt(places);
  /** The neighbours of a patch on one axis, and its distance from the first of them. */
  const between = (index: number, count: number) => {
    const at = count > 1 ? index * (side - 1) / (count - 1) : 0;
    const low = Math.min(Math.floor(at), side - 1);
    return { low, high: Math.min(low + 1, side - 1), share: at - low };
  };
  return (grid, rows) => {
    const values = new Float32Array(rows * width);
    for (let row = 0; row < grid.patches; row++) {
      const y = between(grid.ys[row], grid.rows);
      const x = between(grid.xs[row], grid.columns);
      const corners = [
        [y.low, x.low, (1 - y.share) * (1 - x.share)],
        [y.low, x.high, (1 - y.share) * x.share],
        [y.high, x.low, y.share * (1 - x.share)],
        [y.high, x.high, y.share * x.share],
      ];
      for (const [line, column, weight] of corners) {
        if (weight === 0) continue;
        const from = (line * side + column) * width;
        for (let i = 0; i < width; i++) values[row * width + i] += weight * table[from + i];
      }
    }
    return values;
  };
}
