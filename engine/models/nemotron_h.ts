// Nemotron-H (NVIDIA 2025): each layer is one block, which is a Mamba 2 mixer, attention without
// positions, or a feed-forward block of squared ReLU. In Nemotron 3 Nano (NVIDIA 2025), the
// feed-forward blocks are mixtures of experts.

import type { Layer, ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Nemotron-H, dense or of experts. */
export const nemotronH: Architecture = {
  models: {
    "nemotron_h": "Nemotron-H, Nemotron Nano 2",
    "nemotron_h_moe": "Nemotron 3 Nano",
  },
  load: loadNemotronH,
};

async function loadNemotronH(model: ModelBuilder): Promise<void> {
  model.applyFeedForwardScales();
  const { network } = model;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const block = await loadBlock(model, layer);
    block.add(network.norm(x, layer.norm("attn_norm"), block), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}

async function loadBlock(model: ModelBuilder, layer: Layer) {
  if (layer.isRecurrent) return await layer.mamba2();
  const feedForward = { activation: "relu_squared", gate: "none" } as const;
  if (layer.hasExperts) {
    return await layer.experts({ ...feedForward, gating: "sigmoid" });
  }
  if (layer.hasAny(["ffn_up.weight", "ffn_down.weight"])) {
    return await layer.feedForward(feedForward);
  }
  const heads = model.heads(layer.index);
  const scale = model.config.numberOr("attention.scale", 1 / Math.sqrt(heads.headDim));
  return await layer.attention({ ...heads, scale, biases: "together" });
}
