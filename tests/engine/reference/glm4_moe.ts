// GLM-4.5 (GLM-4.5 Team 2025) in small: norms of the heads of queries and keys, half of which turn; one
// dense layer, then experts chosen by a sigmoid and a bias, beside a shared one.

import { addRows, attend, project } from "./attention.ts";
import { feedForward, mixture } from "./feed_forward.ts";
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
import { add, sigmoid, type Vector } from "./numbers.ts";
import { frequencies, rotateAll } from "./rope.ts";
import type { RandomWeights } from "./weights.ts";

const LAYERS = 3;
const DENSE_LAYERS = 1;
const ROTARY = 16;
const BASE = 1_000_000;
const MIXTURE = {
  experts: 6,
  chosen: 2,
  hidden: 64,
  score: (logits: Vector) => logits.map(sigmoid),
  normalized: true,
  factor: 1.5,
};

/** The first layer is dense. */
export const glm4Moe: ReferenceModel = {
  architecture: "glm4moe",
  metadata: {
    ...sizes(LAYERS),
    "rope.dimension_count": ROTARY,
    "rope.freq_base": BASE,
    "leading_dense_block_count": DENSE_LAYERS,
    "expert_count": MIXTURE.experts,
    "expert_used_count": MIXTURE.chosen,
    "expert_shared_count": 1,
    "expert_feed_forward_length": MIXTURE.hidden,
    "expert_gating_func": 2,
    "expert_weights_norm": true,
    "expert_weights_scale": MIXTURE.factor,
  },
  runLayer,
  run(weights, tokens) {
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, runLayer);
    return logits(weights, rows.map((x) => weights.rmsNorm("output_norm", x)));
  },
};

function runLayer(layer: RandomWeights, rows: Vector[], index: number): Vector[] {
  const rotation = { frequencies: frequencies(ROTARY, BASE), pairs: "half" } as const;
  const normed = rows.map((x) => layer.rmsNorm("attn_norm", x));
  const { queries, keys, values } = project(layer, normed, HEADS, { bias: true });
  const headNorm = (name: string, tokens: Vector[][]) =>
    rotateAll(tokens.map((heads) => heads.map((head) => layer.rmsNorm(name, head))), rotation);
  const results = attend(headNorm("attn_q_norm", queries), headNorm("attn_k_norm", keys), values);
  const attended = addRows(rows, results.map((x) => layer.linear("attn_output", x, WIDTH)));
  return attended.map((x) => {
    const normed = layer.rmsNorm("post_attention_norm", x);
    if (index < DENSE_LAYERS) return add(x, feedForward(layer, normed, HIDDEN));
    const choiceBias = layer.vector("exp_probs_b.bias", MIXTURE.experts);
    const chosen = mixture(layer, normed, { ...MIXTURE, choiceBias });
    const shared = feedForward(layer, normed, MIXTURE.hidden, { suffix: "_shexp" });
    return add(x, add(chosen, shared));
  });
}
