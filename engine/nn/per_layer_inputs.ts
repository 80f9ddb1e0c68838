// Per-layer embeddings (Gemma 3n, Gemma 4): besides the residual stream, every layer has a small
// input of its own. It is the sum of a row that is looked up by token and a projection of the
// token's embedding. The inputs of all layers are computed at once; each layer adds its own through
// a gate.

import type { FloatRows } from "../../kernels/mod.ts";
import type { ModelBuilder } from "./builder.ts";
import type { LayerWeights } from "./layer_weights.ts";
import { rowsOfTable, tokenRows } from "./vocabulary.ts";

/**
 * The inputs of all layers, side by side: [rows, layers * columns]. `x` is the scaled embeddings of
 * the step's tokens: [rows, width]. Errors: GgufError.
 */
export async function perLayerInputs(model: ModelBuilder, x: FloatRows): Promise<FloatRows> {
  const { network, top, config: { layers, width } } = model;
  const columns = inputColumns(top);
  const name = "per_layer_token_embd.weight";
  const ofTokens = tokenRows(name, model.vocabulary, rowsOfTable(top, name, model.vocabulary));
  const table = await model.weights.table(ofTokens, layers * columns);
  const gain = 1 / Math.sqrt(width);
  const projection = await top.matrix("per_layer_model_proj.weight", layers * columns, width, {
    gain,
  });
  // The sum of the two parts is multiplied by 1 / sqrt(2), so each part is scaled by it.
  const scaled = { shape: [columns], gain: Math.SQRT1_2 };
  const norm = top.norm("per_layer_proj_norm", "rms", scaled);
  const scale = Math.sqrt(columns) * Math.SQRT1_2;
  const inputs = network.linear(network.input(x, projection), projection, "per-layer inputs");
  network.normVectors(inputs, norm, { first: 0, count: layers, columns });
  network.embed(table, inputs, { by: "token", scale, accumulate: true, standIn: true });
  return inputs;
}

/** Columns of a layer's input. */
function inputColumns(top: LayerWeights): number {
  const said = top.config.countOr("embedding_length_per_layer_input", 0);
  const share = 1 / top.config.layers;
  return top.size(said, [
    ["per_layer_proj_norm.weight", 0],
    ["per_layer_token_embd.weight", 0, share],
    ["per_layer_model_proj.weight", 1, share],
  ]);
}

/**
 * norm(proj(gelu(gate(x)) * input)) as new rows: what a layer adds for its part of {@linkcode
 * perLayerInputs}. Errors: GgufError.
 */
export async function perLayerUpdate(
  layer: LayerWeights,
  x: FloatRows,
  inputs: FloatRows,
): Promise<FloatRows> {
  const { network } = layer;
  const columns = inputs.columns / layer.config.layers;
  const gate = await layer.matrix("inp_gate.weight", columns, x.columns);
  const projection = await layer.matrix("proj.weight", x.columns, columns);
  const rows = network.linear(network.input(x, gate), gate, "per-layer gate");
  const own = { rows: inputs, first: layer.index * gate.columns };
  network.elementwise("gelu_gate", { rows }, { x: own });
  const update = network.linear(network.input(rows, projection), projection, "per-layer update");
  network.normInto(update, update, layer.norm("post_norm"));
  return update;
}
