// StableLM (Bellagente et al. 2024): LayerNorm, RoPE on a quarter of each head, SwiGLU. StableLM 2
// 12B also norms each head of queries and keys with weights of its own, and attention and the
// feed-forward block read the same norm.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** StableLM. */
export const stableLm: Architecture = {
  models: { "stablelm": "StableLM 2, StableLM 3B" },
  load: loadStableLm,
};

async function loadStableLm(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const rope = model.rope({ pairs: "half" });
  const norms = {
    queryKeyNorm: "head",
    queryKeyNormKind: "layer",
    queryKeyNormPerHead: true,
    queryKeyNormOptional: true,
  } as const;
  const attention = { ...model.heads(), rope, ...norms };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward();
    const normed = network.norm(x, layer.layerNorm("attn_norm"), [attend, feedForward]);
    attend.add(normed, x);
    const isParallel = !layer.hasAll(["ffn_norm.weight", "ffn_norm.bias"]);
    feedForward.add(
      isParallel ? normed : network.norm(x, layer.layerNorm("ffn_norm"), feedForward),
      x,
    );
  }
  await model.output(x, model.top.layerNorm("output_norm"), { head: "required" });
}
