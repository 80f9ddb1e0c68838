// DeepSeekMoE (Dai et al. 2024): Llama with mixtures of many small experts and shared ones in all
// layers except the first few. The weights of a row's experts are not normalized.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** DeepSeekMoE. */
export const deepSeek: Architecture = {
  models: { "deepseek": "DeepSeek-MoE 16B" },
  load: loadDeepSeek,
};

async function loadDeepSeek(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const attention = { ...model.heads(), rope: model.rope({ pairs: "adjacent" }) };
  const dense = config.countOr("leading_dense_block_count", 0);
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = layer.index < dense
      ? await layer.feedForward()
      : await layer.experts({ gating: "softmax", normalize: false });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"), { head: "required" });
}
