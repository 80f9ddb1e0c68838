// Gemma 3n (Gemma Team 2025): Gemma 3 with a residual of four streams (AltUp), a low-rank residual
// beside attention (LAuReL), per-layer embeddings, and sparse feed-forward blocks in the first
// layers. Values are normed, and the last layers attend to the keys and values of earlier ones.

import type { LayerCache } from "../../kernels/mod.ts";
import {
  loadAltUp,
  loadAltUpWeights,
  loadLaurel,
  loadSparseFeedForward,
  type ModelBuilder,
  perLayerInputs,
  perLayerUpdate,
} from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Gemma 3n. */
export const gemma3n: Architecture = {
  models: { "gemma3n": "Gemma 3n (text)" },
  load: loadGemma3n,
};

async function loadGemma3n(model: ModelBuilder): Promise<void> {
  const { network, config, top } = model;
  const isLocal = config.slidingLayers(5);
  // Files converted by Ollama have another name for the base of the local layers.
  const localBase = config.numberOr("rope.freq_base_local", 10_000);
  const base = config.numberOr("rope.freq_base_swa", localBase);
  const local = {
    rope: model.rope({ pairs: "half", base, scaling: "none" }),
    window: { kind: "sliding", size: config.countOr("attention.sliding_window", 512) },
  } as const;
  const global = { rope: model.rope({ pairs: "half" }) };
  const sharing = config.countOr("attention.shared_kv_layers", Math.max(0, config.layers - 20));
  const caches = new Map<boolean, LayerCache>(); // caches of the last local and the last global layer that has its own
  const sparsity = sparsityOf(model);
  const x = await model.embed({ scale: Math.sqrt(config.width) });
  const inputs = await perLayerInputs(model, x);
  const altup = await loadAltUp(model);
  altup.begin(x);
  for (const layer of model.layers()) {
    const kind = isLocal[layer.index];
    const mixing = await loadAltUpWeights(layer);
    const laurel = await loadLaurel(layer);
    const attend = await layer.attention({
      ...model.heads(layer.index),
      ...(kind ? local : global),
      scale: 1,
      queryKeyNorm: "head",
      valueNorm: true,
      sharedCache: layer.index < config.layers - sharing ? undefined : caches.get(kind),
    });
    caches.set(kind, attend.cache);
    const threshold = sparsity[layer.index];
    const feedForward = threshold === -Infinity
      ? await layer.feedForward({ activation: "gelu" })
      : await loadSparseFeedForward(layer, threshold);

    altup.predict(x, mixing);
    const normed = network.norm(x, layer.norm("attn_norm"), [attend, laurel]);
    attend.add(normed, x, layer.norm("post_attention_norm"));
    laurel.add(normed, x);
    network.elementwise("scale", { rows: x }, { factor: Math.SQRT1_2 });
    const feedForwardNorm = layer.norm("ffn_norm");
    feedForward.add(network.norm(x, feedForwardNorm, feedForward), x, layer.norm("post_ffw_norm"));
    altup.correct(x, mixing);
    altup.addToOthers(await perLayerUpdate(layer, x, inputs));
  }
  altup.end(x);
  const softcap = config.numberOr("final_logit_softcapping", 30);
  await model.output(x, top.norm("output_norm"), { softcap });
}

/**
 * Standard deviations above the mean that gates have to exceed, by layer; -Infinity: all gates
 * pass.
 */
function sparsityOf({ config }: ModelBuilder): readonly number[] {
  const listed = config.perLayer("activation_sparsity_scale", NaN);
  if (!Number.isNaN(listed[0])) return listed;
  // The published models: in ten layers the 0.95 quantile of the normal distribution.
  return listed.map((_, i) => i < 10 ? 1.6448533535 : -Infinity);
}
