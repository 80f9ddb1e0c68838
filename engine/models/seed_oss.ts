// Seed-OSS (ByteDance Seed 2025): Llama with biases on queries, keys and values, and RoPE with half
// pairs.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Seed-OSS. */
export const seedOss: Architecture = {
  models: { "seed_oss": "Seed-OSS 36B" },
  load: loadSeedOss,
};

async function loadSeedOss(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const attention = { ...model.heads(), rope: model.rope({ pairs: "half" }) };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    // The tensor is named for a norm after attention, but it is the usual norm before the
    // feed-forward block.
    feedForward.add(network.norm(x, layer.norm("post_attention_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
