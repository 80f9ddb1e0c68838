// Granite 3 (Granite Team, IBM 2024): Llama with four multipliers, of embeddings, scores, what blocks
// add, and logits (muP, Yang et al. 2022). With a mixture of experts, some beside a shared one. As
// Granite 4 (IBM 2025) most layers have a mixer of Mamba 2 in place of attention.

import { type AttentionConfig, type ModelBuilder } from "../nn/mod.ts";

/** Loads a Granite. */
export async function loadGranite(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const gain = config.numberOr("residual_scale", 1);
  const rope = model.rope({ pairs: "adjacent" });
  // Of all the keys there are, "finetuned" is the one that says whether a model has positions at all.
  // Newer files list the layers that have.
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
  // The logits are divided by their scale. Here the norm is, so that the embeddings can be the head.
  const logitGain = 1 / config.numberOr("logit_scale", 1);
  await model.output(x, model.top.norm("output_norm", "rms", { gain: logitGain }));
}
