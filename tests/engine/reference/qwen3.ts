// Qwen3 (Yang et al. 2025) in small: as Llama without biases, but with an RMSNorm of each head's query
// and key before they are rotated, by halves.

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
import { add, type Vector } from "./numbers.ts";
import { frequencies, rotateAll } from "./rope.ts";

const LAYERS = 3;
const BASE = 1_000_000;

/** Pre-norm decoder with grouped queries, norms of heads and SwiGLU. */
export const qwen3: ReferenceModel = {
  architecture: "qwen3",
  metadata: { ...sizes(LAYERS), "rope.freq_base": BASE },
  run(weights, tokens) {
    const rotation = { frequencies: frequencies(HEADS.headDim, BASE), pairs: "half" } as const;
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows) => {
      const normed = rows.map((x) => layer.rmsNorm("attn_norm", x));
      const { queries, keys, values } = project(layer, normed, HEADS);
      const turned = (name: string, tokens: Vector[][]) =>
        rotateAll(tokens.map((heads) => heads.map((head) => layer.rmsNorm(name, head))), rotation);
      const results = attend(turned("attn_q_norm", queries), turned("attn_k_norm", keys), values);
      const attended = results.map((x) => layer.linear("attn_output", x, WIDTH));
      return addRows(rows, attended).map((x) =>
        add(x, feedForward(layer, layer.rmsNorm("ffn_norm", x), HIDDEN))
      );
    });
    return logits(weights, rows.map((x) => weights.rmsNorm("output_norm", x)));
  },
};
