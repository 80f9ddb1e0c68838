// Mamba (Gu and Dao 2023), FalconMamba (Zuo et al. 2024) and Mamba 2 (Dao and Gu 2024): state space
// models, whose layers are mixers alone, without attention, feed-forward blocks or positions.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads a Mamba of either generation. */
export async function loadMamba(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const x = await model.embed(); // [rows, width]: the residual stream
  for (const layer of model.layers()) {
    const mixer = layer.has("ssm_x.weight") ? await layer.mamba() : await layer.mamba2();
    mixer.add(network.norm(x, layer.norm("attn_norm"), mixer), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
