// StarCoder2 (Lozhkov et al. 2024): pre-norm decoder with LayerNorm, RoPE, grouped-query attention, a
// feed-forward block of GELU without a gate, and biases everywhere.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads a StarCoder2. */
export async function loadStarCoder2(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const attention = { ...model.heads(), rope: model.rope({ pairs: "half" }) };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({ activation: "gelu" });
    attend.add(network.norm(x, layer.norm("attn_norm", "layer"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm", "layer"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm", "layer"));
}
