// Llama (Touvron et al. 2023; Grattafiori et al. 2024) and Mistral (Jiang et al. 2023): pre-norm
// decoder with RMSNorm, RoPE, grouped-query attention and SwiGLU. Mixtral (Jiang et al. 2024) has a
// mixture of experts. Biases, tied embeddings and RoPE scaling are applied if the file has them.

import type { ModelBuilder, OutputConfig } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Llama. */
export const llama: Architecture = {
  models: {
    "llama":
      "Llama 1 to 3.3, Mistral, Mixtral, SmolLM, TinyLlama, Yi and more; LLaVA, SmolVLM, Pixtral (images)",
  },
  load: loadLlama,
};

function loadLlama(model: ModelBuilder): Promise<void> {
  model.applyFeedForwardScales();
  return buildLlama(model);
}

/** Builds a Llama, also for other models that differ only in their output. */
export async function buildLlama(model: ModelBuilder, output?: OutputConfig): Promise<void> {
  const { network, config } = model;
  const heads = model.heads();
  const attention = {
    ...heads,
    rope: model.longRope({ pairs: "adjacent" }),
    scale: config.numberOr("attention.scale", 1 / Math.sqrt(heads.headDim)),
  };
  const x = await model.embed(); // [rows, width]: the residual stream
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = layer.hasExperts
      ? await layer.experts({ normalize: true })
      : await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"), output);
}
