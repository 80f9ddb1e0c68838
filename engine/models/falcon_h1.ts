// Falcon-H1 (Falcon LLM Team, TII 2025): every layer has a Mamba 2 mixer and attention in parallel.
// Both read the same norm, and their results are added. The multipliers of its paper are part of
// the weights in GGUF files.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Falcon-H1. */
export const falconH1: Architecture = {
  models: { "falcon-h1": "Falcon-H1" },
  load: loadFalconH1,
};

async function loadFalconH1(model: ModelBuilder): Promise<void> {
  const { network } = model;
  model.ignore(/^rope_freqs\./);
  model.ignore(/\battn_output\.bias$/);
  const attention = { ...model.heads(), rope: model.rope({ pairs: "half" }) };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const mixer = await layer.mamba2({ norm: "optional", convolutionBias: "optional" });
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward();
    const normed = network.norm(x, layer.norm("attn_norm"), [mixer, attend]);
    mixer.add(normed, x);
    attend.add(normed, x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
