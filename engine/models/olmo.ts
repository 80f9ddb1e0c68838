// OLMo 2 and 3 (OLMo Team 2024, 2025): norms come after attention and the feed-forward block,
// before the residual is added; queries and keys are normed over all heads. OLMo 3 has sliding
// windows, and YaRN in the layers without them. OLMoE (Muennighoff et al. 2024): pre-norm, with
// experts whose softmax weights are not normalized.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** OLMo 2 and 3. */
export const olmo2: Architecture = {
  models: { "olmo2": "OLMo 2, OLMo 3" },
  load: loadOlmo2,
};

async function loadOlmo2(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const heads = { ...model.heads(), queryKeyNorm: "row" } as const;
  const size = config.countOr("attention.sliding_window", 0);
  const isLocal = config.slidingLayers(4);
  const rope = model.rope({ pairs: "half" });
  const localRope = model.rope({ pairs: "half", scaling: "none", attentionFactor: 1 });
  const local = { rope: localRope, window: { kind: "sliding", size } } as const;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const positions = size > 0 && isLocal[layer.index] ? local : { rope };
    const attend = await layer.attention({ ...heads, ...positions });
    const feedForward = await layer.feedForward();
    attend.add(network.input(x, attend), x, layer.norm("post_attention_norm"));
    feedForward.add(network.input(x, feedForward), x, layer.norm("post_ffw_norm"));
  }
  await model.output(x, model.top.norm("output_norm"), { head: "required" });
}

/** OLMoE. */
export const olmoe: Architecture = {
  models: { "olmoe": "OLMoE" },
  load: loadOlmoe,
};

async function loadOlmoe(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const rope = model.rope({ pairs: "half" });
  const attention = { ...model.heads(), rope, queryKeyNorm: "row" } as const;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const experts = await layer.experts({ gating: "softmax", normalize: false });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    experts.add(network.norm(x, layer.norm("ffn_norm"), experts), x);
  }
  await model.output(x, model.top.norm("output_norm"), { head: "required" });
}
