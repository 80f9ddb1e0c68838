// ERNIE 4.5 (Baidu ERNIE Team 2025) with experts at regular distances from the first sparse layer
// on, chosen by their softmax with a bias.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** ERNIE 4.5 MoE. */
export const ernieMoe: Architecture = {
  models: { "ernie4_5-moe": "ERNIE 4.5 21B-A3B, 300B-A47B" },
  load: loadErnieMoe,
};

async function loadErnieMoe(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  model.ignore(/\battn_output\.bias$/);
  const attention = { ...model.heads(), rope: model.rope({ pairs: "adjacent" }) };
  const dense = config.countOr("leading_dense_block_count", 0);
  const step = config.countOr("interleave_moe_layer_step", 1);
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const sparse = layer.index >= dense && (layer.index + 1) % step === 0;
    const feedForward = sparse
      ? await layer.experts({ gating: "softmax", normalize: true, choiceBias: "required" })
      : await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
