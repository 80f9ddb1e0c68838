// GLM-4 (GLM Team 2024), the 0414 models: norms before and after each block, biases of queries,
// keys and values, RoPE on half of each head, and gate and up in one tensor. Models that read
// images have M-RoPE, and then pairs are halves instead of neighbours.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** GLM-4. */
export const glm4: Architecture = {
  models: { "glm4": "GLM-4-0414, GLM-Z1" },
  load: loadGlm4,
};

async function loadGlm4(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const multimodal = config.numbers("rope.dimension_sections").some((pairs) => pairs > 0);
  const attention = {
    ...model.heads(),
    rope: model.rope(
      multimodal ? { pairs: "half", multiSection: "contiguous" } : { pairs: "adjacent" },
    ),
  };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({ gate: "joined" });
    const attentionNorm = layer.norm("attn_norm");
    attend.add(network.norm(x, attentionNorm, attend), x, layer.norm("post_attention_norm"));
    const feedForwardNorm = layer.norm("ffn_norm");
    feedForward.add(network.norm(x, feedForwardNorm, feedForward), x, layer.norm("post_ffw_norm"));
  }
  await model.output(x, model.top.norm("output_norm"));
}
