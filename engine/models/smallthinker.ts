// SmallThinker (Song et al. 2025): experts with ReLU, routed by the layer's input before the
// attention. Three of four layers rotate and have a sliding window; the first of four has neither.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** The first of each four layers attends to everything, without positions. */
const PERIOD = 4;

/** SmallThinker. */
export const smallThinker: Architecture = {
  models: { "smallthinker": "SmallThinker" },
  load: loadSmallThinker,
};

async function loadSmallThinker(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const heads = model.heads();
  const rope = model.rope({ pairs: "half" });
  const size = config.countOr("attention.sliding_window", 0);
  const window = { kind: "sliding", size } as const;
  const isSliding = config.slidingLayers(PERIOD, { globalFirst: true });
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention({
      ...heads,
      rope: size === 0 || layer.index % PERIOD !== 0 ? rope : undefined,
      window: size > 0 && isSliding[layer.index] ? window : undefined,
    });
    const experts = await layer.experts({ activation: "relu", normalize: true });
    const chosen = experts.route(network.input(x, experts.router));
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    experts.add(network.norm(x, layer.norm("ffn_norm"), experts), x, undefined, chosen);
  }
  await model.output(x, model.top.norm("output_norm"));
}
