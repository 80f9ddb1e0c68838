// GPT-NeoX (Black et al. 2022) and Pythia (Biderman et al. 2023): decoder with LayerNorm, biases,
// GELU and RoPE on a part of each head. In most models attention and feed-forward block run in
// parallel and their results are added.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** GPT-NeoX. */
export const gptNeox: Architecture = {
  models: { "gptneox": "GPT-NeoX, Pythia" },
  load: loadGptNeox,
};

async function loadGptNeox(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const rope = model.rope({ pairs: "half" });
  const attention = { ...model.heads(), rope, biases: "all" } as const;
  const parallel = config.booleanOr("use_parallel_residual", true);
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({
      activation: "gelu",
      gate: "none",
      bias: "required",
    });
    const attentionNorm = layer.layerNorm("attn_norm");
    const feedForwardNorm = layer.layerNorm("ffn_norm");
    if (parallel) {
      const normed = network.norm(x, feedForwardNorm, feedForward, "normed for feed-forward");
      attend.add(network.norm(x, attentionNorm, attend), x);
      feedForward.add(normed, x);
    } else {
      attend.add(network.norm(x, attentionNorm, attend), x);
      feedForward.add(network.norm(x, feedForwardNorm, feedForward), x);
    }
  }
  await model.output(x, model.top.layerNorm("output_norm"), { head: "required" });
}
