// A feed-forward block with few active hidden columns: those whose gate is far above the mean of
// the row's gates (Spark Transformer, You et al. 2025). All columns are computed nonetheless.

import type { FloatRows, Norm } from "../../kernels/mod.ts";
import type { Stack } from "../weights/mod.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network } from "./network.ts";

/** down(gelu(sparsify(gate(x))) * up(x)). */
export class SparseFeedForwardBlock {
  readonly readers: Stack["readers"];

  constructor(
    readonly network: Network,
    /** Standard deviations above the mean that a gate has to exceed. */
    readonly threshold: number,
    readonly weights: { gate: Stack; up: Stack; down: Stack },
  ) {
    this.readers = [...weights.gate.readers, ...weights.up.readers];
  }

  /** y += norm(block(x)). */
  add(x: Input, y: FloatRows, postNorm: Norm): void {
    const { network } = this;
    const { gate, up, down } = this.weights;
    const gates = network.linear(x, gate, "gate");
    network.addRows(network.make.sparsify(gates, this.threshold));
    const values = { rows: network.linear(x, up, "up") };
    network.elementwise("gelu_gate", { rows: gates }, { x: values });
    network.addLinear(network.input(gates, down), down, y, postNorm);
  }
}

/** Loads ffn_gate, ffn_up and ffn_down. Errors: GgufError. */
export async function loadSparseFeedForward(
  layer: LayerWeights,
  threshold: number,
): Promise<SparseFeedForwardBlock> {
  const { width } = layer.config;
  const hidden = layer.size(layer.config.feedForward(layer.index), [
    ["ffn_down.weight", 0],
    ["ffn_up.weight", 1],
    ["ffn_gate.weight", 1],
  ]);
  const gate = await layer.matrix("ffn_gate.weight", hidden, width);
  const up = await layer.matrix("ffn_up.weight", hidden, width);
  const down = await layer.matrix("ffn_down.weight", width, hidden);
  return new SparseFeedForwardBlock(layer.network, threshold, { gate, up, down });
}
