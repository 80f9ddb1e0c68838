// LAuReL (Menghani et al. 2024), a learned augmented residual layer: beside its block, a layer's
// input is added directly and through a low-rank product.

import type { FloatRows, Norm } from "../../kernels/mod.ts";
import type { Stack } from "../weights/mod.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network, Reader } from "./network.ts";

/** The low-rank residual of a layer, with its weights. */
export class Laurel implements Reader {
  readonly readers: Stack["readers"];
  readonly readsFloats = true;

  constructor(
    readonly network: Network,
    readonly weights: { left: Stack; right: Stack; norm: Norm },
  ) {
    this.readers = weights.left.readers;
  }

  /** y += x + norm(right(left(x))). */
  add(x: Input, y: FloatRows): void {
    const { network } = this;
    const { left, right, norm } = this.weights;
    const low = network.linear(x, left, "laurel");
    network.addLinear(network.input(low, right), right, y, norm);
    network.elementwise("add", { rows: y }, { x: { rows: x.floats! } });
  }
}

/** Loads laurel_l, laurel_r and laurel_post_norm. Errors: GgufError. */
export async function loadLaurel(layer: LayerWeights): Promise<Laurel> {
  const { width } = layer.config;
  const rank = layer.size(0, [["laurel_l.weight", 1], ["laurel_r.weight", 0]]);
  const left = await layer.matrix("laurel_l.weight", rank, width);
  const right = await layer.matrix("laurel_r.weight", width, rank);
  return new Laurel(layer.network, { left, right, norm: layer.norm("laurel_post_norm") });
}
