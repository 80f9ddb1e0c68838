// EmbeddingGemma (Schechter Vera et al. 2025): Gemma 3 (Gemma Team 2025) without the causal mask,
// so that its windows are symmetric, and with two dense layers after the pooling. These are linear,
// so here they are applied to every token before the pooling, which gives the same mean.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Stack } from "../weights/mod.ts";
import type { Architecture } from "./architecture.ts";

/** EmbeddingGemma. */
export const gemmaEmbedding: Architecture = {
  models: { "gemma-embedding": "EmbeddingGemma" },
  isEncoder: true,
  load: loadGemmaEmbedding,
};

async function loadGemmaEmbedding(model: ModelBuilder): Promise<void> {
  const { network, config, top } = model;
  const heads = model.heads();
  const isLocal = config.slidingLayers(6);
  const window = {
    kind: "symmetric",
    size: config.countOr("attention.sliding_window", 512),
  } as const;
  const globalRope = model.rope({ pairs: "half" });
  const base = config.numberOr("rope.freq_base_swa", 10000);
  const localRope = model.rope({ pairs: "half", base, scaling: "none" });
  const x = await model.embed({ scale: Math.sqrt(config.width) });
  for (const layer of model.layers()) {
    const attend = await layer.attention({
      ...heads,
      causal: false,
      scale: config.numberOr("attention.scale", 1 / Math.sqrt(heads.headDim)),
      queryKeyNorm: "head",
      ...(isLocal[layer.index] ? { rope: localRope, window } : { rope: globalRope }),
    });
    const feedForward = await layer.feedForward({ activation: "gelu" });
    const attentionNorm = layer.norm("attn_norm");
    attend.add(network.norm(x, attentionNorm, attend), x, layer.norm("post_attention_norm"));
    const feedForwardNorm = layer.norm("ffn_norm");
    feedForward.add(network.norm(x, feedForwardNorm, feedForward), x, layer.norm("post_ffw_norm"));
  }
  const dense: Stack[] = [];
  for (const name of ["dense_2", "dense_3"]) {
    if (!top.has(`${name}.weight`)) continue;
    const columns = dense.at(-1)?.columns ?? config.width;
    const rows = top.size(config.countOr(`${name}_feat_out`, 0), [[`${name}.weight`, 1]]);
    dense.push(await top.matrix(`${name}.weight`, rows, columns));
  }
  model.hidden(x, top.norm("output_norm"), dense);
}
