// Jina BERT v2 (Günther et al. 2023): a BERT whose positions enter through ALiBi (Press et al. 2022)
// alone, on both sides, and whose feed-forward blocks are GeGLU, with one bias at the end. The model for
// code also norms queries and keys, and adds the block's input a second time, with a second norm.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";
import { addTypes } from "./bert.ts";

/** ALiBi's largest bias, the same in all models. Their files do not contain it. */
const MAX_BIAS = 8;

/** Jina BERT v2. */
export const jinaBertV2: Architecture = {
  models: { "jina-bert-v2": "jina-embeddings-v2, jina-reranker-v1" },
  isEncoder: true,
  load: loadJinaBertV2,
};

async function loadJinaBertV2(model: ModelBuilder): Promise<void> {
  const { network, config, top } = model;
  const x = await model.embed();
  addTypes(model, x);
  network.normInto(x, x, top.layerNorm("token_embd_norm"));
  let last;
  for (const layer of model.layers()) {
    const attend = await layer.attention({
      ...model.heads(),
      causal: false,
      alibi: MAX_BIAS,
      biases: "all",
      queryKeyNorm: "row",
      queryKeyNormKind: "layer",
      queryKeyNormOptional: true,
    });
    const feedForward = await layer.feedForward({
      activation: "gelu",
      gate: layer.has("ffn_gate.weight") ? "apart" : "joined",
      bias: "down",
    });
    const addsTwice = layer.hasAll(["attn_norm_2.weight", "attn_norm_2.bias"]);
    const input = addsTwice ? network.scratch("input of the layer", config.width) : undefined;
    if (input) network.elementwise("copy", { rows: input }, { x: { rows: x } });
    attend.add(network.input(x, attend), x);
    network.normInto(x, x, layer.layerNorm("attn_output_norm"));
    if (input) {
      network.elementwise("add", { rows: x }, { x: { rows: input } });
      network.normInto(x, x, layer.layerNorm("attn_norm_2"));
    }
    feedForward.add(network.input(x, feedForward), x);
    last = layer.layerNorm("layer_output_norm");
    if (layer.index < config.layers - 1) network.normInto(x, x, last);
  }
  model.hidden(x, last!);
}
