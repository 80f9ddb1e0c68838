// SmolLM3 (Bakouch et al. 2025) in small: a Llama whose every fourth layer does not rotate.

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

const LAYERS = 5;
const BASE = 5_000_000;

/** The fourth of five layers is the one that does not. */
export const smolLm3: ReferenceModel = {
  architecture: "smollm3",
  metadata: { ...sizes(LAYERS), "rope.freq_base": BASE },
  run(weights, tokens) {
    const rotation = { frequencies: frequencies(HEADS.headDim, BASE), pairs: "adjacent" } as const;
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows, index) => {
      const normed = rows.map((x) => layer.rmsNorm("attn_norm", x));
      const { queries, keys, values } = project(layer, normed, HEADS);
      const results = index === 3
        ? attend(queries, keys, values)
        : attend(rotateAll(queries, rotation), rotateAll(keys, rotation), values);
      const attended = results.map((x) => layer.linear("attn_output", x, WIDTH));
      return addRows(rows, attended).map((x) => {
        return add(x, feedForward(layer, layer.rmsNorm("ffn_norm", x), HIDDEN));
      });
    });
    const normed = rows.map((x) => weights.rmsNorm("output_norm", x));
    return logits(weights, normed, { tied: true });
  },
};
