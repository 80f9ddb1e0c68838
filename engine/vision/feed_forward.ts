// The feed-forward block of image encoders: the one that texts have, or where a file bounds what goes
// into its matrices or comes out, the same in steps.

import type { ActivationFunction, FloatRows, Norm } from "../../kernels/mod.ts";
import type { Input, Layer } from "../nn/mod.ts";
import { loadProjection, type Projection } from "./projection.ts";

/** A block that adds its result to a residual stream. */
export interface ImageFeedForward {
  readonly readers: Projection["readers"];
  readonly readsFloats?: boolean;
  /** y += block(x), or y += norm(block(x)). */
  add(x: Input, y: FloatRows, postNorm?: Norm): void;
}

/** Loads ffn_up, ffn_down and, where it is there, ffn_gate. Errors: GgufError. */
export async function loadImageFeedForward(
  layer: Layer,
  activation: ActivationFunction,
): Promise<ImageFeedForward> {
  const parts = ["ffn_gate", "ffn_up", "ffn_down"];
  const isBounded = parts.some((part) =>
    ["input_min", "input_max", "output_min", "output_max"].some((bound) =>
      layer.has(`${part}.${bound}`)
    )
  );
  if (!isBounded) return await layer.feedForward({ activation });
  const { width } = layer.config;
  const gate = layer.has("ffn_gate.weight")
    ? await loadProjection(layer, ["ffn_gate"], width)
    : undefined;
  const up = await loadProjection(layer, ["ffn_up"], width);
  const down = await loadProjection(layer, ["ffn_down"], up.columns);
  return new BoundedFeedForward(layer, activation, { gate, up, down });
}

/** down(f(gate(x)) * up(x)), or down(f(up(x))), of bounded matrices. */
class BoundedFeedForward implements ImageFeedForward {
  readonly readers: Projection["readers"];
  readonly readsFloats = true;

  constructor(
    readonly layer: Layer,
    readonly activation: ActivationFunction,
    readonly weights: { gate: Projection | undefined; up: Projection; down: Projection },
  ) {
    const { gate, up } = weights;
    this.readers = [...gate?.readers ?? [], ...up.readers];
  }

  add(x: Input, y: FloatRows, postNorm?: Norm): void {
    const { network } = this.layer;
    const { gate, up, down } = this.weights;
    const values = network.memory.floats("up", up.columns);
    up.run(x, values);
    const gates = gate ? network.memory.floats("gate", gate.columns) : values;
    gate?.run(x, gates);
    const activated = network.activate(gates, up.columns, this.activation, { readers: [] }).floats!;
    if (gate) network.elementwise("multiply", { rows: activated }, { x: { rows: values } });
    down.add(network.input(activated, down, "hidden"), y, postNorm);
  }
}
