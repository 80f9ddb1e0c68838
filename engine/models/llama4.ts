// Llama 4 (Meta 2025): three of four layers attend within chunks of 8192 positions and rotate, with
// norms of queries and keys after it. The fourth attends to everything without positions, but with
// a temperature that grows with the position. Experts take the weighted input; there is a shared
// one, too.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

const CHUNK = 8192;

/** Llama 4. */
export const llama4: Architecture = {
  models: { "llama4": "Llama 4 Scout, Maverick (images)" },
  load: loadLlama4,
};

async function loadLlama4(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const rope = model.rope({ pairs: "adjacent" });
  const isChunked = config.slidingLayers(4);
  // A sliding window of zero means that there are no chunks, and every layer rotates.
  const whole = config.metadata.optionalCount("llama4.attention.sliding_window", CHUNK) === 0;
  // The largest model of the family has no norms of queries and keys.
  const plainNorm = config.countOr("expert_count", 0) !== 128;
  const x = await model.embed();
  for (const layer of model.layers()) {
    const rotates = whole || (layer.index + 1) % 4 !== 0;
    const attend = await layer.attention({
      ...model.heads(),
      ...(config.numberOr("attention.scale", 0) ? { scale: config.number("attention.scale") } : {}),
      ...(rotates
        ? { rope, plainNorm, normAfterRope: true }
        : { temperature: { scale: 0.1, length: CHUNK, offset: 1 } }),
      ...(!whole && isChunked[layer.index] ? { window: { kind: "chunked", size: CHUNK } } : {}),
    });
    const feedForward = layer.hasExperts
      ? await layer.experts({
        gating: "sigmoid",
        normalize: false,
        weightInput: true,
        shared: "required",
      })
      : await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
