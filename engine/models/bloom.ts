// BLOOM (BigScience 2022): pre-norm decoder with LayerNorm, also of the embeddings, biases
// everywhere and GELU. Positions enter through ALiBi (Press et al. 2022) alone. MPT (MosaicML 2023)
// has no norm of the embeddings, and most of its files have no biases.

import { UnsupportedModelError } from "../errors.ts";
import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** ALiBi's largest bias, the same in all BLOOM models. Their files do not contain it. */
const MAX_BIAS = 8;

/** BLOOM. */
export const bloom: Architecture = {
  models: { "bloom": "BLOOM, BLOOMZ" },
  load: loadBloom,
};

async function loadBloom(model: ModelBuilder): Promise<void> {
  await load(model, MAX_BIAS, "required");
}

/** MPT. Loading one that clamps queries, keys and values is an UnsupportedModelError. */
export const mpt: Architecture = {
  models: { "mpt": "MPT" },
  load: loadMpt,
};

async function loadMpt(model: ModelBuilder): Promise<void> {
  const { config, top } = model;
  if (config.numberOr("attention.clamp_kqv", 0) > 0 || top.has("position_embd.weight")) {
    throw new UnsupportedModelError(
      `Cannot load "${config.path}": an MPT with clamped attention or learned positions is not supported`,
    );
  }
  await load(model, config.numberOr("attention.max_alibi_bias", 0), "optional");
}

/**
 * @param bias whether all matrices and norms have biases. A BLOOM has them, and a norm of the
 *   embeddings
 */
async function load(
  model: ModelBuilder,
  alibi: number,
  bias: "required" | "optional",
): Promise<void> {
  const { network, top } = model;
  const isBloom = bias === "required";
  const attention = {
    ...model.heads(),
    alibi,
    biases: isBloom ? "all" : "together",
  } as const;
  const x = await model.embed();
  if (isBloom) network.normInto(x, x, top.layerNorm("token_embd_norm"));
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward({ activation: "gelu", gate: "none", bias });
    attend.add(network.norm(x, layer.norm("attn_norm", "layer", { bias }), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm", "layer", { bias }), feedForward), x);
  }
  await model.output(x, top.norm("output_norm", "layer", { bias }));
}
