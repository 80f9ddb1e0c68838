// Qwen3-VL (Qwen Team 2025): LayerNorm, GELU, rotary positions on top of learned ones that are
// stretched to the image. Some blocks give features to early layers of the decoder (DeepStack, Meng
// et al. 2024): a row of the output is a token's embedding and then one slice for each of these.

import type { FloatRows, Norm } from "../../../kernels/mod.ts";
import { projectTwice } from "../blocks.ts";
import type { ImageBuilder, RowValues } from "../builder.ts";
import { type EncoderFamily, outputsOf } from "../family.ts";
import { shifted } from "../projection.ts";
import { mergeOf, ropeOf } from "./qwen2_5_vl.ts";

/** What each block has that gives features to the decoder. */
const DEEP_NORM = /^v\.deepstack\.\d+\.norm\.weight$/;

/** Qwen3-VL. */
export const qwen3vl: EncoderFamily = {
  anySize: true,
  merge: mergeOf,
  columns(gguf) {
    const slices = [...gguf.tensors.keys()].filter((name) => DEEP_NORM.test(name)).length;
    return outputsOf("mm.2.weight")(gguf) * (1 + slices);
  },
  async build(image) {
    const { top, config, weights, network } = image;
    const width = weights.rowsOf("mm.2.weight");
    const isDeep = (block: number) => top.has(`v.deepstack.${block}.norm.weight`);
    const deep = Array.from({ length: config.layers }, (_, block) => block).filter(isDeep);
    const output = network.memory.floats("output", width * (1 + deep.length), image.mostTokens);
    const turns = image.turns(ropeOf(config));
    const x = await image.patches(stretchedPositions(image));
    for (const layer of image.layers()) {
      await image.transform(layer, x, { turns });
      const slice = 1 + deep.indexOf(layer.index);
      if (slice === 0) continue;
      const name = `v.deepstack.${layer.index}`;
      const norm = top.norm(`${name}.norm`, "layer");
      const names = { first: `${name}.fc1.weight`, second: `${name}.fc2.weight` };
      await mergePatches(image, x, { ...names, norm }, output, slice * width);
    }
    image.normalize(x, "v.post_ln");
    const names = { first: "mm.0.weight", second: "mm.2.weight" };
    await mergePatches(image, x, names, output, 0);
    return { output, width };
  },
};

/** From column `to` on, output = second(gelu(first(norm(x)))) of the patches that become a token. */
async function mergePatches(
  image: ImageBuilder,
  x: FloatRows,
  names: { norm?: Norm; first: string; second: string },
  output: FloatRows,
  to: number,
): Promise<void> {
  const { network, x: joined } = image.tokens(x);
  const first = await image.top.stack([names.first], joined.columns);
  const second = shifted(await image.top.stack([names.second], first.columns), to);
  const input = names.norm ? network.norm(joined, names.norm, first) : network.input(joined, first);
  projectTwice(network, input, first, second, output);
}

/** v.position_embd, a square of positions, between which those of the patches lie. */
function stretchedPositions({ weights, config: { width } }: ImageBuilder): RowValues {
  const table = weights.values("v.position_embd.weight");
  const side = Math.sqrt(table.length / width);
  /** The neighbours of a patch on one axis and how far it is from the first of them. */
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
