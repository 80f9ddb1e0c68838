// DeepSeek-V2, V3 and R1 (2024): multi-head latent attention and mixtures of experts. V3 chooses
// experts by group, with a bias that balances their load. Mistral Large 3 (2025) is the same with
// an attention temperature that grows with the position.

import { gatingOf, type ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";
import { type AddLayer, loadMtpHead, type MtpHead } from "./mtp_head.ts";

/** DeepSeek-V2 and later, and Mistrals of that design. */
export const deepSeek2: Architecture = {
  models: {
    "deepseek2":
      "DeepSeek-V2, V3, R1 and their Lite and Coder versions, Kimi K2, GLM-4.7-Flash, Mistral Large 3",
  },
  load: loadDeepSeek2,
  loadMtpHead: loadDeepSeek2Mtp,
};

/** Mistral Small 4, which is built the same way. */
export const mistral4: Architecture = {
  models: { "mistral4": "Mistral Small 4" },
  load: loadDeepSeek2,
};

async function loadDeepSeek2(model: ModelBuilder): Promise<void> {
  const addLayer = layersOf(model);
  const x = await model.embed();
  for (const layer of model.layers()) await addLayer(layer, x);
  await model.output(x, model.top.norm("output_norm"));
}

/** Loads the MTP head of a DeepSeek-V3 or later. */
function loadDeepSeek2Mtp(model: ModelBuilder): Promise<MtpHead> {
  return loadMtpHead(model, layersOf(model));
}

function layersOf(model: ModelBuilder): AddLayer {
  const { network, config } = model;
  // Files contain a tenth of YaRN's multiplier, which scales up queries and keys, and scales down
  // attention scores.
  const multiplier = config.numberOr("rope.scaling.yarn_log_multiplier", 0) / 0.1;
  const rope = model.rope({
    pairs: "adjacent",
    lengthMultiplier: multiplier,
    scoreMultiplier: multiplier,
  });
  const key = config.countOr("attention.key_length_mla", 0) || config.count("attention.key_length");
  const stretch = (rope.attentionFactor ?? 1) *
    (1 + 0.1 * multiplier * Math.log(rope.scaling === "none" ? 1 : rope.factor ?? 1));
  const attention = {
    rope,
    scale: stretch ** 2 / Math.sqrt(key),
    temperature: model.temperature(),
  };
  // Experts that are chosen by a sigmoid have a bias that balances their load.
  const choiceBias = gatingOf(config) === "sigmoid" ? "required" : "optional";
  const dense = config.countOr("leading_dense_block_count", 0);
  return async (layer, x) => {
    const attend = await layer.latentAttention(attention);
    const feedForward = layer.index < dense
      ? await layer.feedForward()
      : await layer.experts({ choiceBias });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  };
}
