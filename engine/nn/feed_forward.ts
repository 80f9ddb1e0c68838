// The dense feed-forward block: down(f(gate(x)) * up(x)), or down(f(up(x))) without a gate. Shared
// experts use it, too.

import type { ActivationFunction, FloatRows, Norm } from "../../kernels/mod.ts";
import type { GatedStack, Stack } from "../weights/mod.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network } from "./network.ts";

/** The options of a block. Weights: ffn_gate, ffn_up, ffn_down, each with `suffix`. */
export interface FeedForwardConfig {
  /**
   * Where the gate is: in a tensor of its own ("apart", the default), in ffn_up above the other
   * rows, or nowhere.
   */
  gate?: "apart" | "joined" | "none";
  /**
   * Whether the architecture always has biases; "down": the down projection has one, and the others
   * have none. Default "optional": all matrices have one, or none has.
   */
  bias?: "required" | "optional" | "down";
  /** Hidden columns. Default: `feed_forward_length`, or the size that most of the tensors have. */
  hidden?: number;
  /** Default "silu". */
  activation?: ActivationFunction;
  /** Appended to the names of the weights: "_shexp" for shared experts. */
  suffix?: string;
  /** Multiplies the block's output. */
  gain?: number;
}

/** A dense feed-forward layer with its weights. */
export class FeedForwardBlock {
  readonly readers: Stack["readers"];

  constructor(
    readonly network: Network,
    readonly activation: ActivationFunction,
    readonly weights: { gated?: GatedStack; up?: Stack; down: Stack },
  ) {
    this.readers = (weights.gated ?? weights.up)!.readers;
  }

  /** y += block(x), or y += norm(block(x)). */
  add(x: Input, y: FloatRows, postNorm?: Norm): void {
    const { network, weights: { down } } = this;
    network.block("mlp", () => network.addLinear(this.hidden(x), down, y, postNorm));
  }

  /** block(x) as new rows. */
  linear(x: Input, label: string): FloatRows {
    return this.network.linear(this.hidden(x), this.weights.down, label);
  }

  /** The activation that the down projection reads. */
  hidden(x: Input): Input {
    const { network, activation } = this;
    const { gated, up, down } = this.weights;
    if (gated) return network.gated(x, gated, activation, down);
    const rows = network.linear(x, up!, "up");
    return network.activate(rows, up!.columns, activation, down);
  }
}

/** Loads a block. Errors: GgufError. */
export async function loadFeedForward(
  layer: LayerWeights,
  { activation = "silu", suffix = "", gate = "apart", bias = "optional", gain, hidden: said }:
    FeedForwardConfig,
): Promise<FeedForwardBlock> {
  const { weights, network, config: { width } } = layer;
  const [gateName, up, down] = ["gate", "up", "down"].map((part) => `ffn_${part}${suffix}.weight`);
  const joined = gate === "joined";
  const hidden = layer.size(said ?? layer.config.feedForward(layer.index), [
    [down, 0],
    [up, 1, joined ? 1 / 2 : 1],
    ...gate === "apart" ? [[gateName, 1] as const] : [],
  ]);
  const isDownAlone = bias === "down";
  const options = { biasFirst: true, bias: isDownAlone ? "optional" : bias } as const;
  const names = [...gate === "apart" ? [gateName] : [], up, ...isDownAlone ? [] : [down]];
  layer.hasAll(names.map((name) => name.replace(/weight$/, "bias")));
  const downStack = await layer.matrix(down, width, hidden, {
    ...options,
    ...(isDownAlone && { bias: "required" }),
    ...(gain === undefined ? {} : { gain }),
  });
  if (gate === "none") {
    const upStack = await layer.matrix(up, hidden, width, options);
    return new FeedForwardBlock(network, activation, { up: upStack, down: downStack });
  }
  const [gateRows, upRows] = joined
    ? [layer.some(up, 2 * hidden, 0, hidden), layer.some(up, 2 * hidden, hidden, hidden)]
    : [layer.all(gateName, hidden), layer.all(up, hidden)];
  const gated = await weights.gated(gateRows, upRows, width, options);
  return new FeedForwardBlock(network, activation, { gated, down: downStack });
}

// A feed-forward block with few active hidden columns: those whose gate is far above the mean of
// the row's gates (Spark Transformer, You et al. 2025). All columns are computed nonetheless.

/** down(gelu(sparsify(gate(x))) * up(x)). */
class SparseFeedForwardBlock {
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
    this.network.block("mlp", () => this.#add(x, y, postNorm));
  }

  #add(x: Input, y: FloatRows, postNorm: Norm): void {
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
