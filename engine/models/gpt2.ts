// GPT-2 (Radford et al. 2019): pre-norm decoder with LayerNorm, learned positions, biases everywhere
// and GELU.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** GPT-2. */
export const gpt2: Architecture = {
  models: { "gpt2": "GPT-2" },
  load: loadGpt2,
};

async function loadGpt2(model: ModelBuilder): Promise<void> {
  const { network, config, top } = model;
  const attention = { ...model.heads(), biases: "all" } as const;
  const x = await model.embed();
  const rows = top.all("position_embd.weight", config.count("context_length"));
  const positions = await model.weights.table(rows, config.width);
  network.embed(positions, x, { by: "position", accumulate: true });
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({
      activation: "gelu",
      gate: "none",
      bias: "required",
    });
    attend.add(network.norm(x, layer.layerNorm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.layerNorm("ffn_norm"), feedForward), x);
  }
  await model.output(x, top.layerNorm("output_norm"));
}
