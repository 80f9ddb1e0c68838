// Nemotron and Minitron (Parmar et al. 2024; Muralidharan et al. 2024): pre-norm decoder with
// LayerNorm, RoPE on half of each head, and a feed-forward block of squared ReLU without a gate.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Nemotron. */
export const nemotron: Architecture = {
  models: { "nemotron": "Nemotron, Minitron" },
  load: loadNemotron,
};

async function loadNemotron(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const attention = { ...model.heads(), rope: model.rope({ pairs: "half" }) };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({ activation: "relu_squared", gate: "none" });
    attend.add(network.norm(x, layer.layerNorm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.layerNorm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.layerNorm("output_norm"), { head: "required" });
}
