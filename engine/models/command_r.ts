// Command R and R+ (Cohere 2024): attention and feed-forward block read the same LayerNorm, and
// their results are added. R+ also norms queries and keys. In Cohere 2 (Command A, Cohere Team
// 2025) three of four layers have a sliding window and rotary positions; the fourth attends to
// everything without positions.

import type { AttentionConfig, ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Command R. */
export const commandR: Architecture = {
  models: { "command-r": "Command R and R+, Aya 23 and Expanse" },
  load: loadCommandR,
};

function loadCommandR(model: ModelBuilder): Promise<void> {
  const rope = model.rope({ pairs: "adjacent" });
  const attention = {
    rope,
    queryKeyNorm: "head",
    queryKeyNormKind: "layer",
    queryKeyNormPerHead: true,
    queryKeyNormOptional: true,
  } as const;
  return loadParallelDecoder(model, () => attention);
}

/** Cohere 2. */
export const cohere2: Architecture = {
  models: { "cohere2": "Command R7B, Command A" },
  load: loadCohere2,
};

function loadCohere2(model: ModelBuilder): Promise<void> {
  model.applyFeedForwardScales();
  const { config } = model;
  const local = {
    rope: model.rope({ pairs: "adjacent" }),
    window: { kind: "sliding", size: config.count("attention.sliding_window") },
  } as const;
  const isLocal = config.slidingLayers(4);
  return loadParallelDecoder(model, (layer) => isLocal[layer] ? local : {});
}

async function loadParallelDecoder(
  model: ModelBuilder,
  attentionOf: (layer: number) => Partial<AttentionConfig>,
): Promise<void> {
  const { network, config } = model;
  const heads = model.heads();
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention({ ...heads, ...attentionOf(layer.index) });
    const feedForward = await layer.feedForward();
    const normed = network.norm(x, layer.norm("attn_norm", "layer"), [attend, feedForward]);
    attend.add(normed, x);
    feedForward.add(normed, x);
  }
  // The scale of the logits goes into the norm, because the head is the embeddings, which are not
  // scaled.
  const gain = config.numberOr("logit_scale", 1);
  await model.output(x, model.top.norm("output_norm", "layer", { gain }));
}
