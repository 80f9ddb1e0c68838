// Granite 3 (Granite Team, IBM 2024): Llama with multipliers of the embeddings, the attention
// scores, the output of blocks, and the logits (muP, Yang et al. 2022). Some have a mixture of
// experts, some also a shared one. In Granite 4 (IBM 2025) most layers have a Mamba 2 mixer instead
// of attention.

import { type AttentionConfig, type ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Granite. */
export const granite: Architecture = {
  models: {
    "granite": "Granite 3.x, Granite 4 (dense)",
    "granitehybrid": "Granite 4 (hybrid: Micro, Tiny, Small)",
    "granitemoe": "Granite 3.x MoE",
  },
  load: loadGranite,
};

async function loadGranite(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const gain = config.numberOr("residual_scale", 1);
  const rope = model.rope({ pairs: "adjacent" });
  // The key "finetuned" tells whether a model has positions at all. Newer files list the layers
  // that have them.
  const finetuned = config.booleanOr("rope.scaling.finetuned", true);
  const rotates = config.perLayer("attention.rope_pattern", Number(finetuned));
  const attention = (layer: number): AttentionConfig => {
    const heads = model.heads(layer);
    const scale = config.numberOr("attention.scale", 1 / Math.sqrt(heads.headDim));
    return { ...heads, scale, rope: rotates[layer] ? rope : undefined, biases: "together", gain };
  };
  const x = await model.embed({ scale: config.numberOr("embedding_scale", 1) });
  for (const layer of model.layers()) {
    const mixer = layer.isRecurrent
      ? await layer.mamba2({ gain })
      : await layer.attention(attention(layer.index));
    const feedForward = layer.hasExperts
      ? await layer.experts({ gating: "softmax", normalize: true, gain })
      : await layer.feedForward({ gain });
    mixer.add(network.norm(x, layer.norm("attn_norm"), mixer), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  // The logits are divided by their scale. Here the norm is divided instead, so that the embeddings
  // can be the head.
  const logitGain = 1 / config.numberOr("logit_scale", 1);
  await model.output(x, model.top.norm("output_norm", "rms", { gain: logitGain }));
}
