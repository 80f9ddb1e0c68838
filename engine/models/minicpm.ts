// MiniCPM (Hu et al. 2024): Llama with muP's scales of the embeddings, of what each block adds to
// the residual stream, and of the logits. The first files lack these numbers; they get those of
// MiniCPM-2B.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Width of the model whose hyperparameters were tuned; muP transfers them to wider models. */
const BASE_WIDTH = 256;

/** MiniCPM. */
export const miniCpm: Architecture = {
  models: { "minicpm": "MiniCPM" },
  load: loadMiniCpm,
};

async function loadMiniCpm(model: ModelBuilder): Promise<void> {
  const { network, config } = model;
  const gain = config.numberOr("residual_scale", 1.4 / Math.sqrt(config.layers));
  const rope = model.longRope({ pairs: "adjacent" });
  const attention = { ...model.heads(), rope, gain };
  const x = await model.embed({ scale: config.numberOr("embedding_scale", 12) });
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = layer.hasExperts
      ? await layer.experts({ gating: "softmax", normalize: true, gain })
      : await layer.feedForward({ gain });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  }
  const logitScale = config.numberOr("logit_scale", config.width / BASE_WIDTH);
  await model.output(x, model.top.norm("output_norm", "rms", { gain: 1 / logitScale }));
}
