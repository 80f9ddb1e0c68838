// MiniMax-M2 (MiniMax 2025): experts in every layer, chosen by a sigmoid with a bias. Queries and
// keys are normed over all heads, and half of each head is rotated.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** MiniMax-M2. */
export const miniMaxM2: Architecture = {
  models: { "minimax-m2": "MiniMax-M2" },
  load: loadMiniMaxM2,
};

async function loadMiniMaxM2(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const attention = {
    ...model.heads(),
    rope: model.rope({ pairs: "half" }),
    queryKeyNorm: "row",
  } as const;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const experts = await layer.experts({ normalize: true, choiceBias: "required" });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    experts.add(network.norm(x, layer.norm("ffn_norm"), experts), x);
  }
  await model.output(x, model.top.norm("output_norm"), { head: "required" });
}
