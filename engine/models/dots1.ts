// dots.llm1 (Huo et al. 2025): norms of the heads of queries and keys; experts chosen by a sigmoid
// with a bias, after a few dense layers. BailingMoE 2 (Ling-lite and Ling-flash 2.0, Ling Team
// 2025) is the same with queries, keys and values in one tensor; so is GLM-4.5 (GLM-4.5 Team 2025)
// with another name of the second norm.

import { gatingOf, type ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";
import { type AddLayer, loadMtpHead, type MtpHead } from "./mtp_head.ts";

/** The differences between these models. */
interface Variant {
  readonly feedForwardNorm: string;
  /** Whether some models lack the norms of queries and keys, and some a head of their own. */
  readonly optional: boolean;
}

const DOTS1: Variant = { feedForwardNorm: "ffn_norm", optional: false };
const GLM4_MOE: Variant = { feedForwardNorm: "post_attention_norm", optional: true };

/** dots.llm1 and BailingMoE 2. */
export const dots1: Architecture = {
  models: {
    "bailingmoe2": "Ling 2.0 and Ring 2.0 (lite, flash)",
    "dots1": "dots.llm1",
  },
  load: loadDots1,
};

function loadDots1(model: ModelBuilder): Promise<void> {
  return load(model, DOTS1);
}

/** GLM-4.5. */
export const glm4Moe: Architecture = {
  models: { "glm4moe": "GLM-4.5, 4.6 and 4.7, GLM-4.5-Air" },
  load: loadGlm4Moe,
  loadMtpHead: loadGlm4MoeMtp,
};

function loadGlm4Moe(model: ModelBuilder): Promise<void> {
  return load(model, GLM4_MOE);
}

/** Loads the MTP head of a GLM-4.5. */
function loadGlm4MoeMtp(model: ModelBuilder): Promise<MtpHead> {
  return loadMtpHead(model, layersOf(model, GLM4_MOE));
}

async function load(model: ModelBuilder, variant: Variant): Promise<void> {
  const addLayer = layersOf(model, variant);
  const x = await model.embed();
  for (const layer of model.layers()) await addLayer(layer, x);
  const head = variant.optional ? "optional" : "required";
  await model.output(x, model.top.norm("output_norm"), { head });
}

function layersOf(model: ModelBuilder, { feedForwardNorm, optional }: Variant): AddLayer {
  const { network, config } = model;
  const attention = {
    ...model.heads(),
    rope: model.rope({ pairs: "half", multiSection: "contiguous" }),
    queryKeyNorm: "head",
    queryKeyNormOptional: optional,
  } as const;
  const dense = config.countOr("leading_dense_block_count", 0);
  // Files of GLM-4.5 may lack the gating function.
  const gating = config.countOr("expert_gating_func", 0) ? gatingOf(config) : "sigmoid";
  const choiceBias = gating === "sigmoid" ? "required" : "optional";
  return async (layer, x) => {
    const attend = await layer.attention(attention);
    const feedForward = layer.index < dense
      ? await layer.feedForward()
      : await layer.experts({ gating, choiceBias });
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm(feedForwardNorm), feedForward), x);
  };
}
