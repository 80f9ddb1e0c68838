// EXAONE 4 (LG AI Research 2025): norms at the end of each block instead of its beginning, and
// norms of queries and keys. In the 32B three of four layers have sliding windows, and only these
// have positions.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Number of layers of the 32B, whose files need not say which layers have windows. */
const LAYERS_WITH_WINDOWS = 64;

/** EXAONE 4. */
export const exaone4: Architecture = {
  models: { "exaone4": "EXAONE 4" },
  load: loadExaone4,
};

async function loadExaone4(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const isLocal = config.slidingLayers(config.layers === LAYERS_WITH_WINDOWS ? 4 : 1);
  const attention = { ...model.heads(), queryKeyNorm: "head" } as const;
  const rope = model.rope({ pairs: "half" });
  const size = config.countOr("attention.sliding_window", 4096);
  const local = { rope, window: { kind: "sliding", size } } as const;
  const global = isLocal.includes(true) ? {} : { rope };
  const x = await model.embed();
  for (const layer of model.layers()) {
    const attend = await layer.attention({
      ...attention,
      ...(isLocal[layer.index] ? local : global),
    });
    const feedForward = await layer.feedForward();
    attend.add(network.input(x, attend), x, layer.norm("post_attention_norm"));
    feedForward.add(network.input(x, feedForward), x, layer.norm("post_ffw_norm"));
  }
  await model.output(x, model.top.norm("output_norm"));
}
