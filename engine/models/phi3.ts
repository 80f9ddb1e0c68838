// Phi-3, Phi-3.5 and Phi-4 (Abdin et al. 2024): Llama with q, k and v in one tensor, gate and up in
// another, RoPE in halves and LongRoPE (Ding et al. 2024) for long contexts. As Phi-3.5-MoE with a
// mixture of experts and biases, also on the norms and the logits. The sliding window that some files
// name is not applied, nor is it by llama.cpp: they do not say which layers have it.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads a Phi-3, dense or of experts. */
export async function loadPhi3(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const rope = model.longRope({ pairs: "half" });
  const attention = { ...model.heads(), rope };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = layer.has("ffn_gate_inp.weight")
      ? await layer.experts({ gating: "softmax", normalize: true })
      : await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
