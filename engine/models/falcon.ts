// Falcon (Almazrouei et al. 2023): decoder with LayerNorm, RoPE, one or few key heads and GELU.
// Attention and feed-forward block run in parallel and their results are added. The 40B and larger
// have a norm for each of the two.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Falcon. */
export const falcon: Architecture = {
  models: { "falcon": "Falcon 7B, 40B" },
  load: loadFalcon,
};

async function loadFalcon(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const attention = { ...model.heads(), rope: model.rope({ pairs: "half" }) };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({ activation: "gelu", gate: "none" });
    const norm = layer.layerNorm("attn_norm");
    if (layer.hasAll(["attn_norm_2.weight", "attn_norm_2.bias"])) {
      const attentionNorm = layer.layerNorm("attn_norm_2");
      const normed = network.norm(x, norm, feedForward, "normed for feed-forward");
      attend.add(network.norm(x, attentionNorm, attend), x);
      feedForward.add(normed, x);
    } else {
      const normed = network.norm(x, norm, [attend, feedForward]);
      attend.add(normed, x);
      feedForward.add(normed, x);
    }
  }
  await model.output(x, model.top.layerNorm("output_norm"));
}
