// Gemma (Gemma Team 2024): Llama with GeGLU, heads wider than their share of the model, and embeddings
// scaled by the root of the width. Its norms multiply by 1 + weight; GGUF files have the sum.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Gemma. */
export const gemma: Architecture = {
  models: { "gemma": "Gemma 1, CodeGemma" },
  load: loadGemma,
};

async function loadGemma(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const attention = { ...model.heads(), rope: model.rope({ pairs: "half" }) };
  const x = await model.embed({ scale: Math.sqrt(config.width) });
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({ activation: "gelu" });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
