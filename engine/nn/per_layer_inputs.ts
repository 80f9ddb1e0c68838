// Per-layer embeddings (Gemma 3n, Gemma 4): besides the residual stream, every layer has a small
// input of its own, half of it looked up by token, half projected from the token's embedding. They
// are made for all layers at once, and each layer lets its share through a gate.

import type { FloatRows } from "../../kernels/mod.ts";
import type { ModelBuilder } from "./builder.ts";
import type { LayerWeights } from "./layer_weights.ts";

/**
 * The inputs of all layers, side by side: [rows, layers * columns]. `x` are the scaled embeddings of
 * the step's tokens, [rows, width]. Errors: GgufError.
 */
export async function perLayerInputs(model: ModelBuilder, x: FloatRows): Promise<FloatRows> {
  const { network, top, config: { layers, width } } = model;
  const [columns] = model.weights.shapeOf("per_layer_proj_norm.weight");
  const table = await model.weights.table("per_layer_token_embd.weight", layers * columns);
  const gain = 1 / Math.sqrt(width);
  const projection = await top.stack(["per_layer_model_proj.weight"], width, { gain });
  // The sum of the two, times 1 / sqrt(2), which goes into the scale of each.
  const norm = top.norm("per_layer_proj_norm", "rms", Math.SQRT1_2);
  const scale = Math.sqrt(columns) * Math.SQRT1_2;
  const inputs = network.linear(network.input(x, projection), projection, "per-layer inputs");
  network.normVectors(inputs, norm, { first: 0, count: layers, columns });
  network.embed(table, inputs, { by: "token", scale, accumulate: true, standIn: true });
  return inputs;
}

/**
 * norm(proj(gelu(gate(x)) * input)) as new rows: what a layer adds for its share of the inputs that
 * {@linkcode perLayerInputs} gives. Errors: GgufError.
 */
export async function perLayerUpdate(
  layer: LayerWeights,
  x: FloatRows,
  inputs: FloatRows,
): Promise<FloatRows> {
  const { network } = layer;
  const gate = await layer.stack(["inp_gate.weight"], x.columns);
  const projection = await layer.stack(["proj.weight"], gate.columns);
  const rows = network.linear(network.input(x, gate), gate, "per-layer gate");
  const own = { rows: inputs, first: layer.index * gate.columns };
  network.elementwise("gelu_gate", { rows }, { x: own });
  const update = network.linear(network.input(rows, projection), projection, "per-layer update");
  network.normInto(update, update, layer.norm("post_norm"));
  return update;
}
