// StarCoder2 (Lozhkov et al. 2024): pre-norm decoder with LayerNorm, RoPE, grouped-query attention, a
// feed-forward block of GELU without a gate, and biases everywhere.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** StarCoder2. */
export const starCoder2: Architecture = {
  models: { "starcoder2": "StarCoder2" },
  load: loadStarCoder2,
};

async function loadStarCoder2(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const rope = model.rope({ pairs: "half" });
  const attention = { ...model.heads(), rope, biases: "all" } as const;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({
      activation: "gelu",
      gate: "none",
      bias: "required",
    });
    attend.add(network.norm(x, layer.layerNorm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.layerNorm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.layerNorm("output_norm"));
}
