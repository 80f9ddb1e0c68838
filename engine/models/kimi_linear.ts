// Kimi Linear (Kimi Team 2025): three of four layers have Kimi Delta Attention, the fourth has
// multi-head latent attention without positions. After a dense first layer there are experts,
// chosen by a sigmoid with a bias, and a shared one.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Kimi Linear. */
export const kimiLinear: Architecture = {
  models: { "kimi-linear": "Kimi Linear 48B-A3B" },
  load: loadKimiLinear,
};

async function loadKimiLinear(model: ModelBuilder): Promise<void> {
  const { network } = model;
  model.ignore(/\battn_[qkv]\.bias$/);
  model.ignore(/(?<!\battn_output)\.scale$/);
  const x = await model.embed();
  for (const layer of model.layers()) {
    const isLinear = layer.isRecurrent;
    // Of all scales, the reference applies only that of the output of latent attention.
    if (isLinear) layer.ignore(/^attn_output\.scale$/);
    const mixer = isLinear ? await layer.kimiDelta() : await layer.latentAttention({});
    const feedForward = layer.hasExperts
      ? await layer.experts({ normalize: true, choiceBias: "required" })
      : await layer.feedForward();
    mixer.add(network.norm(x, layer.norm("attn_norm"), mixer), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"), { head: "required" });
}
