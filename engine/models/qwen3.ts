// Qwen3 (Yang et al. 2025): Qwen2 with an RMSNorm of each head's query and key instead of biases.
// Qwen3-MoE has a mixture of experts. Qwen3-VL (Bai et al. 2025) has M-RoPE with interleaved
// sections, and its first layers add more of an image to its rows (deepstack).

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Qwen3, dense or of experts. */
export const qwen3: Architecture = {
  models: {
    "qwen3": "Qwen3, Qwen3-Embedding",
    "qwen3moe": "Qwen3-30B-A3B, 235B-A22B, Qwen3-Coder",
  },
  load: loadQwen3,
};

function loadQwen3(model: ModelBuilder): Promise<void> {
  model.applyFeedForwardScales();
  return loadQwen3Vl(model);
}

/** The language model of Qwen3-VL, dense or of experts. */
export const qwen3Vl: Architecture = {
  models: {
    "qwen3vl": "Qwen3-VL (images)",
    "qwen3vlmoe": "Qwen3-VL MoE (images)",
  },
  load: loadQwen3Vl,
};

async function loadQwen3Vl(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const deepstackLayers = config.countOr("n_deepstack_layers", 0);
  const rope = model.rope({ pairs: "half", multiSection: "interleaved" });
  const attention = { ...model.heads(), rope, queryKeyNorm: "head" } as const;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = layer.hasExperts
      ? await layer.experts({ gating: "softmax", normalize: true })
      : await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
    if (layer.index < deepstackLayers) network.addMedia(x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
