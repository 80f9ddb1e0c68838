// BERT (Devlin et al. 2018): encoder with learned positions, LayerNorm after each block, biases
// everywhere and GELU. As nomic-bert (Nussbaum et al. 2024): rotary positions, SwiGLU, few biases.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads a BERT. */
export function loadBert(model: ModelBuilder): Promise<void> {
  return loadPostNormEncoder(model, { rotary: false });
}

/** Loads a Nomic BERT. */
export function loadNomicBert(model: ModelBuilder): Promise<void> {
  return loadPostNormEncoder(model, { rotary: true });
}

async function loadPostNormEncoder(
  model: ModelBuilder,
  { rotary }: { rotary: boolean },
): Promise<void> {
  const { network, config, top } = model;
  const attention = {
    ...model.heads(),
    causal: false,
    rope: rotary ? model.rope({ pairs: "half" }) : undefined,
  };
  const x = await model.embed();
  if (top.has("token_types.weight")) {
    // Every token is of the first type: one text, no pairs.
    const types = network.memory.rows("token types", firstRow(model, "token_types.weight"));
    network.elementwise("add", { rows: x }, { x: { rows: types }, broadcast: true });
  }
  if (top.has("position_embd.weight")) {
    const positions = await model.weights.table("position_embd.weight", config.width);
    network.embed(positions, x, { by: "position", accumulate: true });
  }
  network.normInto(x, x, top.norm("token_embd_norm", "layer"));
  let last;
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({ activation: rotary ? "silu" : "gelu" });
    attend.add(network.input(x, attend), x);
    network.normInto(x, x, layer.norm("attn_output_norm", "layer"));
    feedForward.add(network.input(x, feedForward), x);
    last = layer.norm("layer_output_norm", "layer");
    if (layer.index < config.layers - 1) network.normInto(x, x, last);
  }
  model.hidden(x, last!);
}

/** The first row of a table as f32. */
function firstRow({ weights, config }: ModelBuilder, name: string): Float32Array {
  return weights.values(name).subarray(0, config.width);
}
