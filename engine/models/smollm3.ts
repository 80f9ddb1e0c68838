// SmolLM3 (Bakouch et al. 2025): Llama without RoPE in every fourth layer (NoPE: Yang et al. 2025,
// "Rope to Nope and Back Again").

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Every fourth layer is not rotated. Files do not say so. */
const UNROTATED_STEP = 4;

/** SmolLM3. */
export const smolLm3: Architecture = {
  models: { "smollm3": "SmolLM3" },
  load: loadSmolLm3,
};

async function loadSmolLm3(model: ModelBuilder): Promise<void> {
  const { network } = model;
  const heads = model.heads();
  const rope = model.rope({ pairs: "adjacent" });
  const x = await model.embed();
  for (const layer of model.layers()) {
    const isRotated = (layer.index + 1) % UNROTATED_STEP !== 0;
    const attend = await layer.attention({ ...heads, rope: isRotated ? rope : undefined });
    const feedForward = await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  await model.output(x, model.top.norm("output_norm"));
}
