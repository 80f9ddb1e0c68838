// BLOOM (BigScience 2022) in small: LayerNorm, also of the embeddings, biases everywhere, GELU, and
// ALiBi (Press et al. 2022) for heads that are no power of two.

import { attend, type Heads, projectFused } from "./attention.ts";
import { ungated } from "./feed_forward.ts";
import {
  embed,
  HIDDEN,
  logits,
  type ReferenceModel,
  sizes,
  throughLayers,
  WIDTH,
} from "./model.ts";
import { add, gelu, type Vector } from "./numbers.ts";

const LAYERS = 3;
const SIX_HEADS: Heads = { heads: 6, kvHeads: 6, headDim: 32 };

/** The slopes of the paper's section 3: a power of two heads, then every other one of twice as many. */
function slopesOf(heads: number): Vector {
  const regular = 2 ** Math.floor(Math.log2(heads));
  const powers = (count: number) =>
    Array.from({ length: count }, (_, i) => 2 ** (-8 * (i + 1) / count));
  const between = powers(2 * regular).filter((_, i) => i % 2 === 0);
  return [...powers(regular), ...between].slice(0, heads);
}

export const bloom: ReferenceModel = {
  architecture: "bloom",
  metadata: sizes(LAYERS, SIX_HEADS),
  run(weights, tokens) {
    const slopes = slopesOf(SIX_HEADS.heads);
    const embedded = embed(weights, tokens).map((x) => weights.layerNorm("token_embd_norm", x));
    const rows = throughLayers(weights, embedded, LAYERS, (layer, rows) => {
      const normed = rows.map((x) => layer.layerNorm("attn_norm", x));
      const { queries, keys, values } = projectFused(layer, normed, SIX_HEADS, { bias: true });
      const attended = attend(queries, keys, values, { slopes })
        .map((x) => layer.linear("attn_output", x, WIDTH, { bias: true }));
      return rows.map((x, i) => {
        const both = add(x, attended[i]);
        return add(both, ungated(layer, layer.layerNorm("ffn_norm", both), HIDDEN, gelu));
      });
    });
    return logits(weights, rows.map((x) => weights.layerNorm("output_norm", x)));
  },
};
