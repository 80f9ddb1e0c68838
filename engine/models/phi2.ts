// Phi-1, Phi-1.5 and Phi-2 (Gunasekar et al. 2023; Li et al. 2023): one LayerNorm per layer, whose
// result both attention and the feed-forward block (GELU) read; RoPE on a part of each head, and
// biases everywhere, also on the logits.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Phi-2. */
export const phi2: Architecture = {
  models: { "phi2": "Phi-1, Phi-1.5, Phi-2" },
  load: loadPhi2,
};

async function loadPhi2(model: ModelBuilder): Promise<void> {
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
    const normed = network.norm(x, layer.layerNorm("attn_norm"), [attend, feedForward]);
    attend.add(normed, x);
    feedForward.add(normed, x);
  }
  await model.output(x, model.top.layerNorm("output_norm"), { head: "required", bias: "required" });
}
