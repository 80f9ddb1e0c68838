// GPT-2 (Radford et al. 2019): pre-norm decoder with LayerNorm, learned positions, biases everywhere
// and GELU.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads a GPT-2. */
export async function loadGpt2(model: ModelBuilder): Promise<void> {
  const { network, config, top } = model;
  const heads = model.heads();
  const x = await model.embed();
  const positions = await model.weights.table("position_embd.weight", config.width);
  network.embed(positions, x, { by: "position", accumulate: true });
  for (const layer of model.layers()) {
    const attend = await layer.attention(heads);
    const feedForward = await layer.feedForward({ activation: "gelu" });
    attend.add(network.norm(x, layer.norm("attn_norm", "layer"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm", "layer"), feedForward), x);
  }
  await model.output(x, top.norm("output_norm", "layer"));
}
