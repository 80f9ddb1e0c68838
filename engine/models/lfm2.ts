// LFM2 (Liquid AI 2025): most layers have a gated short convolution, the others attention with
// norms of the heads of queries and keys. LFM2-MoE has experts chosen by a sigmoid, after a few
// dense layers.

import { type AttentionConfig, type ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** LFM2, dense or of experts. */
export const lfm2: Architecture = {
  models: {
    "lfm2": "LFM2",
    "lfm2moe": "LFM2-8B-A1B",
  },
  load: loadLfm2,
};

async function loadLfm2(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const rope = model.rope({ pairs: "half" });
  const size = config.countOr("attention.sliding_window", 0);
  const isLocal = config.slidingLayers(1);
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attention = (): AttentionConfig => ({
      ...model.heads(layer.index),
      rope,
      queryKeyNorm: "head",
      window: size > 0 && isLocal[layer.index] ? { kind: "sliding", size } : undefined,
    });
    const mixer = layer.isRecurrent
      ? await layer.shortConvolution()
      : await layer.attention(attention());
    const feedForward = layer.hasExperts
      ? await layer.experts({ normalize: true, choiceBias: "required" })
      : await layer.feedForward();
    mixer.add(network.norm(x, layer.norm("attn_norm"), mixer), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("token_embd_norm"));
}
