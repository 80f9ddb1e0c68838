// Hunyuan-A13B (Tencent Hunyuan Team 2025): Hunyuan with experts, and a shared one, in every layer.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Hunyuan MoE. */
export const hunyuanMoe: Architecture = {
  models: { "hunyuan-moe": "Hunyuan-A13B" },
  load: loadHunyuanMoe,
};

async function loadHunyuanMoe(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const attention = {
    ...model.heads(),
    rope: model.rope({ pairs: "half" }),
    queryKeyNorm: "head",
    normAfterRope: true,
  } as const;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const experts = await layer.experts({ gating: "softmax", normalize: true });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    experts.add(network.norm(x, layer.norm("ffn_norm"), experts), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
