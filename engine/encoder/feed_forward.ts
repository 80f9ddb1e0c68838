// The feed-forward block of encoders: that of texts, or, if the file bounds the inputs or
// outputs of its matrices, a version that applies the bounds between the products.

import type { ActivationFunction, FloatRows, Norm } from "../../kernels/mod.ts";
import type { Input, Layer } from "../nn/mod.ts";
import { loadProjection, type Projection } from "./projection.ts";

/** A block that adds its result to a residual stream. */
export interface EncoderFeedForward {
  readonly readers: Projection["readers"];
  readonly readsFloats?: boolean;
  /** y += block(x), or y += norm(block(x)). */
  add(x: Input, y: FloatRows, postNorm?: Norm): void;
}

/** Loads ffn_up, ffn_down and, with a gate, ffn_gate. Errors: GgufError. */
export async function loadEncoderFeedForward(
  layer: Layer,
  activation: ActivationFunction,
  gated: boolean,
): Promise<EncoderFeedForward> {
  const parts = gated ? ["ffn_gate", "ffn_up", "ffn_down"] : ["ffn_up", "ffn_down"];
  const isBounded = parts.some((part) =>
    ["input_min", "input_max", "output_min", "output_max"].some((bound) =>
      layer.hasAny([`${part}.${bound}`])
    )
  );
  if (!isBounded) return await layer.feedForward({ activation, gate: gated ? "apart" : "none" });
  const { width } = layer.config;
  const hidden = layer.size(layer.config.feedForward(layer.index), [
    ["ffn_down.weight", 0],
    ["ffn_up.weight", 1],
    ...gated ? [["ffn_gate.weight", 1] as const] : [],
  ]);
  const weight = (name: string, rows: number, columns: number) =>
    loadProjection(layer, [layer.all(name, rows)], columns);
  const gate = gated ? await weight("ffn_gate.weight", hidden, width) : undefined;
  const up = await weight("ffn_up.weight", hidden, width);
  const down = await weight("ffn_down.weight", width, hidden);
  return new BoundedFeedForward(layer, activation, { gate, up, down });
}

/** down(f(gate(x)) * up(x)), or down(f(up(x))), of matrices with bounds. */
class BoundedFeedForward implements EncoderFeedForward {
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
    const values = network.scratch("up", up.columns);
    up.run(x, values);
    const gates = gate ? network.scratch("gate", gate.columns) : values;
    gate?.run(x, gates);
    const activated = network.activate(gates, up.columns, this.activation, { readers: [] }).floats!;
    if (gate) network.elementwise("multiply", { rows: activated }, { x: { rows: values } });
    down.add(network.input(activated, down, "hidden"), y, postNorm);
  }
}
