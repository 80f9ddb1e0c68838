// Granite 3 (Granite Team, IBM 2024): Llama with four multipliers, of embeddings, scores, what blocks
// add, and logits (muP, Yang et al. 2022). With a mixture of experts, some beside a shared one.

import { FEED_FORWARD_SCALES, type ModelBuilder } from "../nn/mod.ts";

/** Loads a Granite. */
export async function loadGranite(model: ModelBuilder): Promise<void> {
  const { network, config, weights } = model;
  weights.ignore(FEED_FORWARD_SCALES);
  const heads = model.heads();
  const gain = config.numberOr("residual_scale", 1);
  const rope = model.rope({ pairs: "adjacent" });
  // Of all the keys there are, "finetuned" is the one that says whether a model has positions at all.
  // Newer files list the layers that have.
  const finetuned = config.booleanOr("rope.scaling.finetuned", true);
  const rotates = config.perLayer("attention.rope_pattern", Number(finetuned));
  const attention = {
    ...heads,
    scale: config.numberOr("attention.scale", 1 / Math.sqrt(heads.headDim)),
    gain,
  };
  const x = await model.embed({ scale: config.numberOr("embedding_scale", 1) });
  for (const layer of model.layers()) {
    const attend = await layer.attention({
      ...attention,
      rope: rotates[layer.index] ? rope : undefined,
    });
    const feedForward = layer.has("ffn_gate_inp.weight")
      ? await layer.experts({ gating: "softmax", normalize: true, gain })
      : await layer.feedForward({ gain });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  // The logits are divided by their scale. Here the norm is, so that the embeddings can be the head.
  const logitGain = 1 / config.numberOr("logit_scale", 1);
  await model.output(x, model.top.norm("output_norm", "rms", logitGain));
}
