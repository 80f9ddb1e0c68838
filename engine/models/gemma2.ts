// Gemma 2 (Gemma Team 2024): Gemma with norms before and after each block, a sliding window in every
// other layer, and soft caps on scores and logits.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/**
 * Number of layers of the 27B, whose attention scale is 1 / sqrt(width / heads) instead of 1 /
 * sqrt(headDim).
 */
const LAYERS_OF_27B = 46;

/** Gemma 2. */
export const gemma2: Architecture = {
  models: { "gemma2": "Gemma 2" },
  load: loadGemma2,
};

async function loadGemma2(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const heads = model.heads();
  const perHead = config.layers === LAYERS_OF_27B ? config.width / heads.heads : heads.headDim;
  const attention = {
    ...heads,
    scale: 1 / Math.sqrt(perHead),
    softcap: config.numberOr("attn_logit_softcapping", 50),
  };
  const window = {
    kind: "sliding",
    size: config.countOr("attention.sliding_window", 4096),
  } as const;
  const rope = model.rope({ pairs: "half" });
  const base = config.numberOr("rope.freq_base_swa", rope.base);
  const local = { rope: base === rope.base ? rope : { ...rope, base }, window };
  const isLocal = config.slidingLayers(2);
  const x = await model.embed({ scale: Math.sqrt(config.width) });
  for (const layer of model.layers()) {
    const attend = await layer.attention({
      ...attention,
      ...(isLocal[layer.index] ? local : { rope }),
    });
    const feedForward = await layer.feedForward({ activation: "gelu" });
    const attentionNorm = layer.norm("attn_norm");
    attend.add(network.norm(x, attentionNorm, attend), x, layer.norm("post_attention_norm"));
    const feedForwardNorm = layer.norm("ffn_norm");
    feedForward.add(network.norm(x, feedForwardNorm, feedForward), x, layer.norm("post_ffw_norm"));
  }
  const softcap = config.numberOr("final_logit_softcapping", 30);
  await model.output(x, model.top.norm("output_norm"), { softcap });
}
