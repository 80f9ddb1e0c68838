// Per-layer embeddings (Gemma 3n, Gemma 4): besides the residual stream, every layer has a small
// input of its own, half of it looked up by token, half projected from the token's embedding. They
// are made for all layers at once, and each layer's block lets its share through by a gate.

import type { FloatRows, Norm } from "../../kernels/mod.ts";
import type { Stack } from "../weights.ts";
import type { ModelBuilder } from "./builder.ts";
import type { Layer } from "./layer.ts";
import type { Input, Network } from "./network.ts";

/**
 * The inputs of all layers, side by side: [rows, layers * columns]. `x` are the scaled embeddings of
 * the step's tokens, [rows, width]. Errors: GgufError.
 */
export async function perLayerInputs(model: ModelBuilder, x: FloatRows): Promise<FloatRows> {
  const { network, top, config: { layers, width } } = model;
  const [columns] = model.weights.shapeOf("per_layer_proj_norm.weight");
  const table = await top.stack(["per_layer_token_embd.weight"], layers * columns);
  const gain = 1 / Math.sqrt(width);
  const projection = await top.stack(["per_layer_model_proj.weight"], width, { gain });
  // The sum of the two, times 1 / sqrt(2), which goes into the scale of each.
  const norm = top.norm("per_layer_proj_norm", "rms", Math.SQRT1_2);
  const scale = Math.sqrt(columns) * Math.SQRT1_2;
  const inputs = network.linear(network.input(x, projection), projection, "per-layer inputs");
  network.normVectors(inputs, norm, { first: 0, count: layers, columns });
  network.embed(table.parts[0].matrix, inputs, { by: "token", scale, accumulate: true });
  return inputs;
}

/** A layer's use of its input: proj(gelu(gate(x)) * input). */
export class PerLayerBlock {
  readonly readers: Stack["readers"];

  constructor(
    readonly network: Network,
    readonly inputs: FloatRows,
    readonly weights: { index: number; gate: Stack; projection: Stack },
  ) {
    this.readers = weights.gate.readers;
  }

  /** y += norm(block(x)). */
  add(x: Input, y: FloatRows, postNorm: Norm): void {
    this.network.addLinear(this.#gated(x), this.weights.projection, y, postNorm);
  }

  /** block(x) as new rows. */
  linear(x: Input, label: string): FloatRows {
    return this.network.linear(this.#gated(x), this.weights.projection, label);
  }

  #gated(x: Input): Input {
    const { network, inputs } = this;
    const { index, gate, projection } = this.weights;
    const rows = network.linear(x, gate, "per-layer gate");
    const own = { rows: inputs, first: index * gate.columns };
    network.elementwise("gelu_gate", { rows }, { x: own });
    return network.input(rows, projection);
  }
}

/** Loads a layer's block: inp_gate and proj. `inputs` as {@linkcode perLayerInputs} gives them. */
export async function loadPerLayerBlock(layer: Layer, inputs: FloatRows): Promise<PerLayerBlock> {
  const { index, network, config: { width } } = layer;
  const gate = await layer.stack(["inp_gate.weight"], width);
  const projection = await layer.stack(["proj.weight"], gate.columns);
  return new PerLayerBlock(network, inputs, { index, gate, projection });
}
