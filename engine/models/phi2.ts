// Phi-1, Phi-1.5 and Phi-2 (Gunasekar et al. 2023; Li et al. 2023): one LayerNorm per layer, whose
// result attention and a feed-forward block of GELU read side by side; RoPE on a part of each head,
// and biases everywhere, also on the logits.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads a Phi-2. */
export async function loadPhi2(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const attention = { ...model.heads(), rope: model.rope({ pairs: "half" }) };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({ activation: "gelu" });
    const normed = network.norm(x, layer.norm("attn_norm", "layer"), [attend, feedForward]);
    attend.add(normed, x);
    feedForward.add(normed, x);
  }
  await model.output(x, model.top.norm("output_norm", "layer"));
}
