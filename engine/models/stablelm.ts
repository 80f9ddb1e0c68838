// StableLM (Bellagente et al. 2024): LayerNorm, RoPE on a quarter of each head, SwiGLU. StableLM 2 12B
// also norms each head of queries and keys, every one with weights of its own, and lets attention and
// the feed-forward block read the same norm.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads a StableLM. */
export async function loadStableLm(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const rope = model.rope({ pairs: "half" });
  const norms = { queryKeyNorm: "head", queryKeyNormKind: "layer" } as const;
  const attention = { ...model.heads(), rope, ...norms };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward();
    const normed = network.norm(x, layer.norm("attn_norm", "layer"), [attend, feedForward]);
    attend.add(normed, x);
    const isParallel = !layer.has("ffn_norm.weight");
    feedForward.add(
      isParallel ? normed : network.norm(x, layer.norm("ffn_norm", "layer"), feedForward),
      x,
    );
  }
  await model.output(x, model.top.norm("output_norm", "layer"));
}
