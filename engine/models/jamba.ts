// Jamba (AI21 Labs 2024): mostly Mamba layers with norms of time steps, inputs and outputs. A few
// layers have attention, without positions. Some layers have a mixture of experts.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Jamba. */
export const jamba: Architecture = {
  models: { "jamba": "Jamba" },
  load: loadJamba,
};

async function loadJamba(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const mixer = layer.isRecurrent
      ? await layer.mamba({ norms: "weighted" })
      : await layer.attention(model.heads(layer.index));
    const feedForward = layer.hasExperts
      ? await layer.experts({ gating: "softmax", normalize: false })
      : await layer.feedForward();
    mixer.add(network.norm(x, layer.norm("attn_norm"), mixer), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
