// ModernBERT (Warner et al. 2024): pre-norm encoder with rotary positions, GeGLU, and local attention
// in two of three layers. The first layer has no norm before its attention: the embeddings have one.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** ModernBERT. */
export const modernBert: Architecture = {
  models: { "modern-bert": "ModernBERT, gte-modernbert, Granite Embedding R2" },
  isEncoder: true,
  load: loadModernBert,
};

async function loadModernBert(model: ModelBuilder): Promise<void> {
  const { network, config, top } = model;
  const period = config.countOr("attention.sliding_window_pattern", 3);
  const window = {
    kind: "symmetric",
    size: config.countOr("attention.sliding_window", 128),
  } as const;
  const globalRope = model.rope({ pairs: "half" });
  const localRope = model.rope({
    pairs: "half",
    base: config.numberOr("rope.freq_base_swa", globalRope.base),
  });
  const x = await model.embed();
  network.normInto(x, x, top.norm("token_embd_norm", "layer"));
  for (const layer of model.layers()) {
    const isGlobal = layer.index % period === 0;
    const attend = await layer.attention({
      ...model.heads(),
      causal: false,
      ...(isGlobal ? { rope: globalRope } : { rope: localRope, window }),
    });
    const feedForward = await layer.feedForward({ activation: "gelu", gate: "joined" });
    const isNormed = layer.index > 0 || layer.hasAny(["attn_norm.weight"]);
    const normed = isNormed
      ? network.norm(x, layer.norm("attn_norm", "layer"), attend)
      : network.input(x, attend);
    attend.add(normed, x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm", "layer"), feedForward), x);
  }
  model.hidden(x, top.norm("output_norm", "layer"));
}
