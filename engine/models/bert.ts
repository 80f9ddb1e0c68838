// BERT (Devlin et al. 2018): encoder with learned positions, LayerNorm after each block, biases
// everywhere and GELU. Nomic BERT (Nussbaum et al. 2024) has rotary positions, SwiGLU and few
// biases.

import type { FloatRows } from "../../kernels/mod.ts";
import type { AttentionConfig, ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";

/** Embeddings that tell the first text of a pair from the second. */
const TYPES = "token_types.weight";

/** BERT. */
export const bert: Architecture = {
  models: { "bert": "BERT, MiniLM, BGE, E5, Snowflake Arctic Embed, mxbai-embed-large" },
  isEncoder: true,
  load: loadBert,
};

function loadBert(model: ModelBuilder): Promise<void> {
  return loadPostNormEncoder(model, { rotary: false });
}

/** Nomic BERT. */
export const nomicBert: Architecture = {
  models: { "nomic-bert": "nomic-embed-text v1 and v1.5" },
  isEncoder: true,
  load: loadNomicBert,
};

function loadNomicBert(model: ModelBuilder): Promise<void> {
  return loadPostNormEncoder(model, { rotary: true });
}

async function loadPostNormEncoder(
  model: ModelBuilder,
  { rotary }: { rotary: boolean },
): Promise<void> {
  const { network, config, top } = model;
  const attention: AttentionConfig = {
    ...model.heads(),
    causal: false,
    ...(rotary ? { rope: model.rope({ pairs: "half" }) } : { biases: "all" }),
  };
  const x = await model.embed();
  addTypes(model, x);
  if (!rotary) {
    const rows = top.all("position_embd.weight", config.count("context_length"));
    const positions = await model.weights.table(rows, config.width);
    network.embed(positions, x, { by: "position", accumulate: true });
  }
  network.normInto(x, x, top.layerNorm("token_embd_norm"));
  let last;
  for (const layer of model.layers()) {
    const attend = await layer.attention(attention);
    const feedForward = await layer.feedForward(
      rotary ? {} : { activation: "gelu", gate: "none", bias: "required" },
    );
    attend.add(network.input(x, attend), x);
    network.normInto(x, x, layer.layerNorm("attn_output_norm"));
    feedForward.add(network.input(x, feedForward), x);
    last = layer.layerNorm("layer_output_norm");
    if (layer.index < config.layers - 1) network.normInto(x, x, last);
  }
  model.hidden(x, last!);
}

/**
 * Adds the embeddings that tell the first text of a pair from the second, if a file has them: every
 * token is of the first type, because there is one text and no pair.
 */
export function addTypes(model: ModelBuilder, x: FloatRows): void {
  const { network, config, top } = model;
  const types = config.metadata.optionalCount("tokenizer.ggml.token_type_count", 0);
  if (types === 0 && !top.has(TYPES)) return;
  const rows = network.memory.rows("token types", firstType(model, types));
  network.elementwise("add", { rows: x }, { x: { rows }, broadcast: true });
}

/**
 * The first row of the table of types. @param said rows of the table by the metadata, 0 if it does
 * not tell
 */
function firstType({ weights, top, config: { width } }: ModelBuilder, said: number): Float32Array {
  const rows = top.size(said, [[TYPES, 1]]);
  return weights.values(TYPES, [width, rows]).subarray(0, width);
}
