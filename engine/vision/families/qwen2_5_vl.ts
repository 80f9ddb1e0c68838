// Qwen2.5-VL (Bai et al. 2025): RMSNorm, SwiGLU, rotary positions of rows and columns. Most blocks
// attend within windows of 112 pixels, some to the whole image. Squares of patches become tokens.

import { loadTwice, projectTwice } from "../network/blocks.ts";
import type { ImageBuilder } from "../network/builder.ts";
import {
  between,
  CLIP_PIXELS,
  MROPE_SECTIONS,
  outputsOf,
  type VisionFamily,
} from "../network/family.ts";
import type { GridRope } from "../network/rotary.ts";
import type { VisionConfig } from "../network/config.ts";
import type { Windows } from "../network/windows.ts";

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
