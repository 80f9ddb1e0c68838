// Qwen2 and Qwen2.5 (Yang et al. 2024): Llama with biases on queries, keys and values, and RoPE
// with half pairs. Qwen2-VL (Wang et al. 2024) has the sections of M-RoPE. Qwen1.5-MoE and
// Qwen2-57B-A14B have experts whose softmax weights are not normalized, and a shared one behind a
// sigmoid gate.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** The language model of Qwen2-VL. */
export const qwen2Vl: Architecture = {
  models: {
    "qwen25vl": "Qwen2.5-VL (images), as Ollama converts it",
    "qwen2vl": "Qwen2-VL (text), Qwen2.5-VL (images)",
  },
  load: loadQwen2Vl,
};

async function loadQwen2Vl(model: ModelBuilder): Promise<void> {
  model.ignore(/^output\.bias$/);
  await loadQwen2(model);
}

/** Qwen2, dense or of experts. */
export const qwen2: Architecture = {
  models: {
    "qwen2": "Qwen 1.5, 2 and 2.5, QwQ, DeepSeek-R1-Distill-Qwen",
    "qwen2moe": "Qwen1.5-MoE, Qwen2-57B-A14B",
  },
  load: loadQwen2,
};

async function loadQwen2(model: ModelBuilder): Promise<void> {
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
