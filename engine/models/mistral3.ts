// Ministral 3 and later (Mistral AI 2025): Llama with YaRN (Peng et al. 2023) that does not scale
// queries and keys, and with an attention temperature that grows with the position, as in Llama 4.
// Dense or a mixture of experts.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Mistral 3. */
export const mistral3: Architecture = {
  models: { "mistral3": "Ministral 3 (images)" },
  load: loadMistral3,
};

async function loadMistral3(model: ModelBuilder): Promise<void> {
  model.applyFeedForwardScales();
  const { network } = model;
  const rope = model.rope({ pairs: "adjacent" });
  const attention = { ...model.heads(), rope, temperature: model.temperature() };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = layer.hasExperts
      ? await layer.experts({ gating: "softmax", normalize: true })
      : await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
