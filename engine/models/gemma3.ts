// Gemma 3 (Gemma Team 2025): Gemma 2 with norms of queries and keys instead of soft caps. Of six
// layers, five have a sliding window and a rotary embedding of their own, with a lower base and
// without scaling. The rows of an image attend to each other in both directions.

import { type ModelBuilder, type Rope } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/**
 * Number of layers of the 27B, whose attention scale is 1 / sqrt(width / heads) instead of 1 /
 * sqrt(headDim).
 */
const LAYERS_OF_27B = 62;

/** Gemma 3. */
export const gemma3: Architecture = {
  models: { "gemma3": "Gemma 3, MedGemma (images)" },
  load: loadGemma3,
};

async function loadGemma3(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const heads = model.heads();
  const perHead = config.layers === LAYERS_OF_27B ? config.width / heads.heads : heads.headDim;
  const attention = {
    ...heads,
    scale: 1 / Math.sqrt(perHead),
    queryKeyNorm: "head",
    bidirectionalImages: network.media.areBidirectional,
  } as const;
  // Without a size there are no windows.
  const size = config.countOr("attention.sliding_window", 0);
  const isLocal = config.slidingLayers(6);
  const ropes = readRopes(model);
  const local = { rope: ropes.local, window: { kind: "sliding", size } } as const;
  const global = { rope: ropes.global };
  const x = await model.embed({ scale: Math.sqrt(config.width) });
  for (const layer of model.layers()) {
    const attend = await layer.attention({
      ...attention,
      ...(size > 0 && isLocal[layer.index] ? local : global),
    });
    const feedForward = await layer.feedForward({ activation: "gelu" });
    const attentionNorm = layer.norm("attn_norm");
    attend.add(network.norm(x, attentionNorm, attend), x, layer.norm("post_attention_norm"));
    const feedForwardNorm = layer.norm("ffn_norm");
    feedForward.add(network.norm(x, feedForwardNorm, feedForward), x, layer.norm("post_ffw_norm"));
  }
  const softcap = config.numberOr("final_logit_softcapping", 0);
  await model.output(x, model.top.norm("output_norm"), { softcap });
}

/** The rotary embedding of layers with a window ("local"), and that of the others ("global"). */
function readRopes(model: ModelBuilder): { local: Rope; global: Rope } {
  const { config } = model;
  const localBase = config.numberOr("rope.local.freq_base", 10_000);
  const base = config.numberOr("rope.freq_base_swa", localBase);
  const local = model.rope({ pairs: "half", base, scaling: "none" });
  if (config.numberOr("rope.freq_base", 0) > 0) {
    return { local, global: model.rope({ pairs: "half" }) };
  }
  // Files converted by Ollama have other names for the bases, or none, and do not say that the
  // rotation of the larger models is scaled for a longer context.
  const stretched = config.count("context_length") >= 131_072;
  const global = model.rope({
    pairs: "half",
    base: config.numberOr("rope.global.freq_base", 1_000_000),
    factor: config.numberOr("rope.scaling.factor", stretched ? 8 : 1),
  });
  return { local, global };
}
