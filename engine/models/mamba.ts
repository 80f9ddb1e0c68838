// Mamba (Gu and Dao 2023), FalconMamba (Zuo et al. 2024) and Mamba 2 (Dao and Gu 2024): state space
// models. Their layers are only mixers: no attention, no feed-forward blocks, no positions.

import type { Layer, ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Mamba and FalconMamba. */
export const mamba: Architecture = {
  models: { "mamba": "Mamba, FalconMamba" },
  load: loadMamba,
};

function loadMamba(model: ModelBuilder): Promise<void> {
  return load(model, (layer) => layer.mamba());
}

/** Mamba 2. */
export const mamba2: Architecture = {
  models: { "mamba2": "Mamba 2, Codestral Mamba" },
  load: loadMamba2,
};

function loadMamba2(model: ModelBuilder): Promise<void> {
  return load(model, (layer) => layer.mamba2());
}

async function load(
  model: ModelBuilder,
  mixerOf: (layer: Layer) => ReturnType<Layer["mamba"] | Layer["mamba2"]>,
): Promise<void> {
  const { network } = model;
  const x = await model.embed(); // [rows, width]: the residual stream
  for (const layer of model.layers()) {
    const mixer = await mixerOf(layer);
    mixer.add(network.norm(x, layer.norm("attn_norm"), mixer), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
