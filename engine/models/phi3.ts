// Phi-3, Phi-3.5 and Phi-4 (Abdin et al. 2024): Llama with q, k and v in one tensor, gate and up in
// another, RoPE with half pairs, and LongRoPE (Ding et al. 2024) for long contexts. Phi-3.5-MoE has
// a mixture of experts, and biases also on norms and logits. The sliding window of some files is
// not applied, as in llama.cpp, because they do not say which layers have it.

import type { Layer, ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Phi-3. */
export const phi3: Architecture = {
  models: { "phi3": "Phi-3, Phi-3.5, Phi-4, Phi-4-mini" },
  load: loadPhi3,
};

function loadPhi3(model: ModelBuilder): Promise<void> {
  return load(model, "optional", (layer) => layer.feedForward({ gate: "joined" }));
}

/** Phi-3.5-MoE. */
export const phiMoe: Architecture = {
  models: { "phimoe": "Phi-3.5-MoE" },
  load: loadPhiMoe,
};

function loadPhiMoe(model: ModelBuilder): Promise<void> {
  return load(model, "required", (layer) => layer.experts({ gating: "softmax", normalize: true }));
}

/** @param bias whether attention, norms and head have biases */
async function load(
  model: ModelBuilder,
  bias: "required" | "optional",
  feedForwardOf: (layer: Layer) => ReturnType<Layer["feedForward"] | Layer["experts"]>,
): Promise<void> {
  const { network } = model;
  const hasBiases = bias === "required";
  const attention = {
    ...model.heads(),
    rope: model.longRope({ pairs: "half" }),
    ...hasBiases && { biases: "all" as const },
  };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await feedForwardOf(layer);
    attend.add(network.norm(x, layer.norm("attn_norm", "rms", { bias }), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm", "rms", { bias }), feedForward), x);
  }
  const norm = model.top.norm("output_norm", "rms", { bias });
  await model.output(x, norm, hasBiases ? { head: "required", bias: "required" } : {});
}
