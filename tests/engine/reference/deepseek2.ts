// DeepSeek-V3 (2024) in small: latent attention with several heads and a context stretched by YaRN,
// one dense layer, then experts in groups, chosen by a sigmoid and a bias, beside a shared one.

import { addRows } from "./attention.ts";
import { feedForward, mixture } from "./feed_forward.ts";
import { latentAttention } from "./latent_attention.ts";
import { embed, HIDDEN, logits, type ReferenceModel, sizes, throughLayers } from "./model.ts";

import { add, sigmoid, type Vector } from "./numbers.ts";
import { yarn } from "./rope.ts";
import type { RandomWeights } from "./weights.ts";

const LAYERS = 3;
const DENSE_LAYERS = 1;
const SHAPE = { heads: 3, rank: 64, queryRank: 64, rotary: 32, plain: 64, value: 32 };
const STRETCH = { base: 10_000, factor: 4, original: 64 };
/** DeepSeek's `mscale_all_dim`; scores grow by the square of what YaRN would lengthen vectors by. */
const SCORE_MULTIPLIER = 0.75;
const EXPERTS = 8;
const MIXTURE = {
  experts: EXPERTS,
  chosen: 3,
  hidden: 64,
  score: (logits: Vector) => logits.map(sigmoid),
  normalized: true,
  factor: 2.5,
  groups: { count: 4, chosen: 2 },
};

/** As newer files have it, whose attention has one KV head, or as older ones. */
export function deepSeek2(form: "absorbed" | "unfolded"): ReferenceModel {
  const { heads, rank, rotary, plain, value, queryRank } = SHAPE;
  const attention = form === "absorbed"
    ? { heads, kvHeads: 1, headDim: rank + rotary }
    : { heads, kvHeads: heads, headDim: plain + rotary };
  return {
    architecture: "deepseek2",
    metadata: {
      ...sizes(LAYERS, attention),
      ...(form === "absorbed"
        ? {
          "attention.value_length": rank,
          "attention.key_length_mla": plain + rotary,
          "attention.value_length_mla": value,
        }
        : { "attention.value_length": value }),
      "attention.q_lora_rank": queryRank,
      "attention.kv_lora_rank": rank,
      "rope.dimension_count": rotary,
      "rope.freq_base": STRETCH.base,
      "rope.scaling.type": "yarn",
      "rope.scaling.factor": STRETCH.factor,
      "rope.scaling.original_context_length": STRETCH.original,
      "rope.scaling.yarn_log_multiplier": 0.1 * SCORE_MULTIPLIER,
      "leading_dense_block_count": DENSE_LAYERS,
      "expert_count": EXPERTS,
      "expert_used_count": MIXTURE.chosen,
      "expert_shared_count": 1,
      "expert_feed_forward_length": MIXTURE.hidden,
      "expert_gating_func": 2,
      "expert_weights_norm": true,
      "expert_weights_scale": MIXTURE.factor,
      "expert_group_count": MIXTURE.groups.count,
      "expert_group_used_count": MIXTURE.groups.chosen,
    },
    runLayer,
    run(weights, tokens) {
      const rows = throughLayers(weights, embed(weights, tokens), LAYERS, runLayer);
      return logits(weights, rows.map((x) => weights.rmsNorm("output_norm", x)));
    },
  };
}

function runLayer(layer: RandomWeights, rows: Vector[], index: number): Vector[] {
  const { rotary, plain } = SHAPE;
  const rotation = { frequencies: yarn(rotary, STRETCH), pairs: "adjacent" } as const;
  const stretched = 1 + 0.1 * SCORE_MULTIPLIER * Math.log(STRETCH.factor);
  const attention = { rotation, factor: stretched ** 2 / Math.sqrt(plain + rotary) };
  const normed = rows.map((x) => layer.rmsNorm("attn_norm", x));
  const attended = addRows(rows, latentAttention(layer, normed, SHAPE, attention));
  return attended.map((x) => {
    const normed = layer.rmsNorm("ffn_norm", x);
    if (index < DENSE_LAYERS) return add(x, feedForward(layer, normed, HIDDEN));
    const choiceBias = layer.vector("exp_probs_b.bias", EXPERTS);
    const chosen = mixture(layer, normed, { ...MIXTURE, choiceBias });
    const shared = feedForward(layer, normed, MIXTURE.hidden, { suffix: "_shexp" });
    return add(x, add(chosen, shared));
  });
}
