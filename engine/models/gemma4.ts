// Gemma 4 (Google 2026): sliding and full layers with heads of different sizes. Full layers rotate
// only a part of the pairs, and may use their keys as values; values are normed. Some models have
// experts beside the dense block. Smaller ones, in which keys are never values, have per-layer
// embeddings, and their last layers attend to the keys and values of earlier ones, as in Gemma 3n.
// The rows of an image attend to each other in both directions in sliding layers, but not in models
// with per-layer embeddings.

import {
  type Config,
  type Layer,
  type ModelBuilder,
  perLayerInputs,
  perLayerUpdate,
} from "../nn/mod.ts";
import type { FloatRows, LayerCache } from "../../kernels/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Tensors of the per-layer embeddings. */
const LAYER_INPUTS = ["token_embd", "model_proj", "proj_norm"].map((name) =>
  `per_layer_${name}.weight`
);

/** Whether the model has per-layer embeddings, as smaller models do. */
function hasLayerInputs(config: Config): boolean {
  return config.countOr("embedding_length_per_layer_input", 0) > 0;
}

/** Gemma 4. */
export const gemma4: Architecture = {
  models: { "gemma4": "Gemma 4 (images): dense, with experts, E2B and E4B" },
  load: loadGemma4,
};

async function loadGemma4(model: ModelBuilder): Promise<void> {
  model.applyFeedForwardScales();
  const { network, config, weights, top } = model;
  model.ignore(/\bffn_gate_inp\.scale$/); // scales the router's input, see addFeedForward
  const isSliding = config.slidingLayers(6);
  const kvLayers = config.layers - config.countOr("attention.shared_kv_layers", 0);
  const sliding = {
    rope: model.rope({
      pairs: "half",
      rotary: config.countOr("rope.dimension_count_swa", config.heads().headDim),
      base: config.numberOr("rope.freq_base_swa", 10_000),
      factors: "none",
    }),
    window: { kind: "sliding", size: config.count("attention.sliding_window") },
    bidirectionalImages: network.media.areBidirectional,
  } as const;
  const caches = new Map<boolean, LayerCache>(); // caches of the last sliding and the last full layer that has its own
  const x = await model.embed({ scale: Math.sqrt(config.width) });
  const inputs = hasLayerInputs(config) || top.hasAny(LAYER_INPUTS)
    ? await perLayerInputs(model, x)
    : undefined;
  const full = {
    rope: model.rope({ pairs: "half", factors: "required" }),
    // The smaller models have values in all layers.
    keysAsValues: inputs ? undefined : "full",
  };
  for (const layer of model.layers()) {
    const isLocal = isSliding[layer.index];
    const attend = await layer.attention({
      ...config.heads(layer.index, isLocal ? "_swa" : ""),
      ...(isLocal ? sliding : full),
      scale: 1,
      queryKeyNorm: "head",
      valueNorm: true,
      sharedCache: layer.index < kvLayers ? undefined : caches.get(isLocal),
    });
    caches.set(isLocal, attend.cache);
    attend.add(
      network.norm(x, layer.norm("attn_norm"), attend),
      x,
      layer.norm("post_attention_norm"),
    );
    await addFeedForward(layer, x);
    if (inputs) {
      const update = await perLayerUpdate(layer, x, inputs);
      network.elementwise("add", { rows: x }, { x: { rows: update } });
    }
    if (layer.has("layer_output_scale.weight")) {
      const [factor] = weights.values(layer.name("layer_output_scale.weight"), [1]);
      network.elementwise("scale", { rows: x }, { factor });
    }
  }
  const softcap = config.numberOr("final_logit_softcapping", 0);
  await model.output(x, top.norm("output_norm"), { softcap });
}

/** x += norm(dense(norm(x))), or x += norm(norm(dense(norm(x))) + norm(experts(norm(x)))). */
async function addFeedForward(layer: Layer, x: FloatRows): Promise<void> {
  const { network } = layer;
  const dense = await layer.feedForward({ activation: "gelu" });
  const normed = network.norm(x, layer.norm("ffn_norm"), dense);
  if (!layer.hasExperts) {
    return dense.add(normed, x, layer.norm("post_ffw_norm"));
  }
  const sum = network.scratch("dense and experts", x.columns);
  network.normInto(dense.linear(normed, "dense"), sum, layer.norm("post_ffw_norm_1"));
  const experts = await layer.experts({ activation: "gelu", gating: "softmax", normalize: true });
  // The router reads x / rms(x) / sqrt(width), column by column times a scale.
  const chosen = experts.route(network.norm(
    x,
    {
      kind: "rms",
      epsilon: layer.config.epsilon("rms"),
      weight: layer.vector("ffn_gate_inp.scale", [x.columns], 1 / Math.sqrt(x.columns)),
    },
    experts.router,
    "routed",
  ));
  const input = network.norm(x, layer.norm("pre_ffw_norm_2"), experts);
  experts.add(input, sum, layer.norm("post_ffw_norm_2"), chosen);
  network.normInto(sum, x, layer.norm("post_ffw_norm"), { accumulate: true });
}
