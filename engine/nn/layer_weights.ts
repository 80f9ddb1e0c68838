// The weights of a layer by their names without `blk.N.`: norms, vectors and matrices. Blocks load
// what they are made of from here.

import type { Norm } from "../../kernels/mod.ts";
import type { StackOptions } from "../affine.ts";
import type { Rows } from "../rows.ts";
import type { Stack, WeightLoader } from "../weights.ts";
import type { Config } from "./config.ts";
import type { Network } from "./network.ts";

/** The weights of one layer, or with an empty prefix those that belong to none. */
export class LayerWeights {
  constructor(
    readonly network: Network,
    readonly weights: WeightLoader,
    readonly config: Config,
    /** From 0 on. */
    readonly index: number,
    readonly prefix = `blk.${index}.`,
  ) {}

  /** The full GGUF name of a tensor. */
  name(tensor: string): string {
    return this.prefix + tensor;
  }

  /** Whether the layer has a tensor. */
  has(tensor: string): boolean {
    return this.weights.has(this.name(tensor));
  }

  /** A small tensor as f32 on the GPU, padded with zeros to whole groups. */
  vector(tensor: string, gain?: number): GPUBuffer {
    return this.weights.vector(this.name(tensor), gain);
  }

  /** Rows of a tensor of this layer, for {@linkcode Layer.stack}. */
  rows(tensor: string, first: number, count: number): Rows {
    return { name: this.name(tensor), ranges: [[first, count]] };
  }

  /** One matrix of the rows of tensors, in order. A string is the whole tensor. */
  stack(tensors: readonly Rows[], columns: number, options?: StackOptions): Promise<Stack> {
    const named = tensors.map((rows) => typeof rows === "string" ? this.name(rows) : rows);
    return this.weights.stack(named, columns, options);
  }

  /** A norm: `<tensor>.weight` and, where it is there, `<tensor>.bias`, times `gain`. */
  norm(tensor: string, kind: "rms" | "layer" = "rms", gain = 1): Norm {
    const bias = this.has(`${tensor}.bias`);
    // A few files name the weight of a norm without ".weight".
    const weight = this.has(`${tensor}.weight`) ? `${tensor}.weight` : tensor;
    return {
      kind,
      epsilon: this.config.epsilon(kind),
      weight: this.vector(weight, gain),
      ...(bias ? { bias: this.vector(`${tensor}.bias`, gain) } : {}),
    };
  }
}
