// Llama 3 (Grattafiori et al. 2024) in small, with what only some of its files have: biases on all
// projections, and the factors by which pairs turn slower.

import { addRows, attend, project } from "./attention.ts";
import { feedForward } from "./feed_forward.ts";
import {
  embed,
  HEADS,
  HIDDEN,
  logits,
  type ReferenceModel,
  sizes,
  throughLayers,
  WIDTH,
} from "./model.ts";
import { add } from "./numbers.ts";
import { frequencies, rotateAll } from "./rope.ts";

const LAYERS = 3;
const BASE = 500_000;

/** Pre-norm decoder with grouped queries and SwiGLU. */
export const llama: ReferenceModel = {
  architecture: "llama",
  metadata: { ...sizes(LAYERS), "rope.dimension_count": HEADS.headDim, "rope.freq_base": BASE },
  run(weights, tokens) {
    const pairs = HEADS.headDim / 2;
    const factors = weights.vector("rope_freqs.weight", pairs, { mean: 4, deviation: 1.5 });
    const turns = frequencies(HEADS.headDim, BASE).map((frequency, i) => frequency / factors[i]);
    const rotation = { frequencies: turns, pairs: "adjacent" } as const;
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows) => {
      const normed = rows.map((x) => layer.rmsNorm("attn_norm", x));
      const { queries, keys, values } = project(layer, normed, HEADS, { bias: true });
      const results = attend(rotateAll(queries, rotation), rotateAll(keys, rotation), values);
      const attended = results.map((x) => layer.linear("attn_output", x, WIDTH, { bias: true }));
      return addRows(rows, attended).map((x) => {
        return add(x, feedForward(layer, layer.rmsNorm("ffn_norm", x), HIDDEN, { bias: true }));
      });
    });
    return logits(weights, rows.map((x) => weights.rmsNorm("output_norm", x)));
  },
};
