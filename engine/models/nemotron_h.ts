// Nemotron-H (NVIDIA 2025): each layer is one block, a mixer of Mamba 2, attention without positions,
// or a feed-forward block of squared ReLU. As Nemotron 3 Nano (NVIDIA 2025) with mixtures of experts.

import type { Layer, ModelBuilder } from "../nn/mod.ts";

/** Loads a Nemotron-H, dense or of experts. */
export async function loadNemotronH(model: ModelBuilder): Promise<void> {
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
  if (layer.has("ssm_in.weight")) return await layer.mamba2();
  const activation = "relu_squared";
  if (layer.has("ffn_gate_inp.weight")) {
    return await layer.experts({ gating: "sigmoid", activation });
  }
  if (layer.has("ffn_up.weight")) return await layer.feedForward({ activation });
  const heads = model.heads(layer.index);
  const scale = model.config.numberOr("attention.scale", 1 / Math.sqrt(heads.headDim));
  return await layer.attention({ ...heads, scale });
}
