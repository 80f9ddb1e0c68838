// The dense feed-forward block: down(f(gate(x)) * up(x)), or down(f(up(x))) without a gate.
// Shared experts are such blocks too.

import type { ActivationFunction, FloatRows, Norm } from "../../kernels/mod.ts";
import type { GatedStack, Stack } from "../weights.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network } from "./network.ts";

/** What a block computes. Weights: ffn_gate, ffn_up, ffn_down, with `suffix`. */
export interface FeedForwardConfig {
  /** Default "silu". */
  activation?: ActivationFunction;
  /** Follows the names of the weights: "_shexp" for shared experts. */
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
    this.network.addLinear(this.hidden(x), this.weights.down, y, postNorm);
  }

  /** block(x) as new rows. */
  linear(x: Input, label: string): FloatRows {
    return this.network.linear(this.hidden(x), this.weights.down, label);
  }

  /** What the down projection reads. */
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
  { activation = "silu", suffix = "", gain }: FeedForwardConfig,
): Promise<FeedForwardBlock> {
  const { weights, network } = layer;
  const columns = layer.config.width;
  const [gate, up, down] = ["gate", "up", "down"].map((part) =>
    layer.name(`ffn_${part}${suffix}.weight`)
  );
  const [hidden] = weights.shapeOf(down);
  const downStack = await weights.stack([down], hidden, {
    biasFirst: true,
    ...(gain === undefined ? {} : { gain }),
  });
  if (weights.has(gate)) {
    const gated = await weights.gated(gate, up, columns);
    return new FeedForwardBlock(network, activation, { gated, down: downStack });
  }
  // Some files have gate and up in one tensor, the gate first.
  if (weights.rowsOf(up) === 2 * hidden) {
    const half = (first: number) => ({ name: up, ranges: [[first, hidden] as const] });
    const gated = await weights.gated(half(0), half(hidden), columns);
    return new FeedForwardBlock(network, activation, { gated, down: downStack });
  }
  const upStack = await weights.stack([up], columns, { biasFirst: true });
  return new FeedForwardBlock(network, activation, { up: upStack, down: downStack });
}
