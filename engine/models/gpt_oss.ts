// gpt-oss (OpenAI 2025): mixtures of experts with biases and a clamped swish, chosen by their
// logits; attention sinks; a sliding window in every other layer.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** gpt-oss. */
export const gptOss: Architecture = {
  models: { "gpt-oss": "gpt-oss 20B, 120B" },
  load: loadGptOss,
};

async function loadGptOss(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const rope = model.rope({ pairs: "half" });
  const attention = { ...model.heads(), rope, biases: "all", sinks: true } as const;
  const isSliding = config.slidingLayers(2);
  const window = { kind: "sliding", size: config.count("attention.sliding_window") } as const;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention({
      ...attention,
      window: isSliding[layer.index] ? window : undefined,
    });
    const experts = await layer.experts({
      gating: "softmax of selected",
      activation: "clamped_swish",
      bias: "required",
    });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    experts.add(network.norm(x, layer.norm("post_attention_norm"), experts), x);
  }
  await model.output(x, model.top.norm("output_norm"), { head: "required" });
}
