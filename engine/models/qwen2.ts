// Qwen2 and Qwen2.5 (Yang et al. 2024): Llama with biases on queries, keys and values, and RoPE
// with half pairs. Qwen2-VL (Wang et al. 2024) has the sections of M-RoPE. Qwen1.5-MoE and
// Qwen2-57B-A14B have experts whose softmax weights are not normalized, and a shared one behind a
// sigmoid gate.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads the language model of a Qwen2-VL. */
export async function loadQwen2Vl(model: ModelBuilder): Promise<void> {
  model.ignore(/^output\.bias$/);
  await loadQwen2(model);
}

/** Loads a Qwen2, dense or of experts. */
export async function loadQwen2(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const rope = model.rope({ pairs: "half", multiSection: "contiguous" });
  const attention = { ...model.heads(), rope, biases: "qkv" } as const;
  const isMixture = model.config.architecture === "qwen2moe";
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = isMixture
      ? await layer.experts({ gating: "softmax", normalize: false, shared: "gated" })
      : await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"), {
    head: isMixture ? "required" : "optional",
  });
}
