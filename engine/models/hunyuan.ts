// Hunyuan (Tencent Hunyuan Team 2025), dense: Llama with norms of queries and keys after the
// rotation.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Hunyuan. */
export const hunyuan: Architecture = {
  models: { "hunyuan-dense": "Hunyuan 0.5B to 7B" },
  load: loadHunyuan,
};

async function loadHunyuan(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const attention = {
    ...model.heads(),
    rope: model.rope({ pairs: "half", multiSection: "contiguous" }),
    queryKeyNorm: "head",
    normAfterRope: true,
  } as const;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
