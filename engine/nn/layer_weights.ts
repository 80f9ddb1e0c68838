// The weights of a layer by their names without `blk.N.`: norms, vectors and matrices, each with the
// shape that the architecture gives it. Blocks load what they are made of from here.

import type { Buffer, Norm } from "../../kernels/mod.ts";
import type { Rows, Stack, StackOptions, WeightLoader } from "../weights/mod.ts";
import type { Config } from "./config.ts";
import type { Network } from "./network.ts";

/** What is to be known of a norm's weights. */
export interface NormWeights {
  /** Shape of the weight, the length of a vector first. Default: the width of the model. */
  shape?: readonly number[];
  /** Whether all files have a bias, or some. Default "optional". */
  bias?: "required" | "optional";
  /** Multiplies weight and bias. */
  gain?: number;
}

/** Where a size can be seen: an axis of a tensor, of which it is a part. */
export type SizeSource = readonly [tensor: string, axis: 0 | 1, share?: number];

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

  /**
   * Whether the layer has an optional tensor, as all of its kind have it or none.
   * Errors: GgufError where some have it.
   */
  has(tensor: string, kind?: string): boolean {
    return this.weights.has(this.name(tensor), kind);
  }

  /**
   * Whether the layer has some tensors that belong together.
   * Errors: GgufError where it has some of them, or other layers have them.
   */
  hasAll(tensors: readonly string[]): boolean {
    return this.weights.inventory.hasAll(tensors.map((tensor) => this.name(tensor)));
  }

  /** Whether the layer has any of these, which tells its kind: what is missing of them is missed then. */
  hasAny(tensors: readonly string[]): boolean {
    return this.weights.inventory.hasAny(tensors.map((tensor) => this.name(tensor)));
  }

  /** Which of several layouts the layer's tensors have: the first that is there in part. */
  choose<T extends readonly string[]>(layouts: readonly T[]): T {
    const names = layouts.map((tensors) => tensors.map((tensor) => this.name(tensor)));
    return layouts[this.weights.inventory.choose(names)];
  }

  /** Leaves tensors of this layer alone that it has no use for. @param names from the beginning on */
  ignore(names: RegExp): void {
    const prefix = this.prefix.replaceAll(".", "\\.");
    this.weights.inventory.ignore(new RegExp(`^${prefix}(?:${names.source.replace(/^\^/, "")})`));
  }

  /** A small tensor as f32 on the GPU, padded with zeros to whole groups. */
  vector(tensor: string, shape: readonly number[], gain?: number): Buffer {
    return this.weights.vector(this.name(tensor), shape, gain);
  }

  /** All rows of a tensor of this layer, for {@linkcode LayerWeights.stack}. */
  all(tensor: string, rows: number): Rows {
    return { name: this.name(tensor), rows };
  }

  /** Some of the rows of a tensor of this layer, for {@linkcode LayerWeights.stack}. */
  some(tensor: string, rows: number, first: number, count: number): Rows {
    return { name: this.name(tensor), rows, ranges: [[first, count]] };
  }

  /** One matrix of the rows of tensors, in order. */
  stack(tensors: readonly Rows[], columns: number, options?: StackOptions): Promise<Stack> {
    return this.weights.stack(tensors, columns, options);
  }

  /** A matrix [rows, columns] of a tensor of this layer. */
  matrix(tensor: string, rows: number, columns: number, options?: StackOptions): Promise<Stack> {
    return this.stack([this.all(tensor, rows)], columns, options);
  }

  /** A norm: `<tensor>.weight` and, where it is there, `<tensor>.bias`, times `gain`. */
  norm(
    tensor: string,
    kind: "rms" | "layer" = "rms",
    { shape = [this.config.width], bias = "optional", gain = 1 }: NormWeights = {},
  ): Norm {
    // A few files name the weight of a norm without ".weight".
    const [weight] = this.choose([[`${tensor}.weight`], [tensor]]);
    const hasBias = bias === "required" || this.has(`${tensor}.bias`);
    return {
      kind,
      epsilon: this.config.epsilon(kind),
      weight: this.vector(weight, shape, gain),
      ...(hasBias ? { bias: this.vector(`${tensor}.bias`, shape, gain) } : {}),
    };
  }

  /** A LayerNorm with its bias. */
  layerNorm(tensor: string): Norm {
    return this.norm(tensor, "layer", { bias: "required" });
  }

  /**
   * A size that no key has to tell: what most of the tensors have that it can be seen in, and the
   * metadata where it says; where as many have another, what the metadata says.
   *
   * @param said by the metadata, 0 if it is silent
   * @throws GgufError where all tensors are missing, or nothing tells which of two is right
   */
  size(said: number, sources: readonly SizeSource[]): number {
    const { inventory } = this.weights;
    const seen = sources.flatMap(([tensor, axis, share = 1]) => {
      const name = this.name(tensor);
      if (!inventory.hasAny([name])) return [];
      return [{ name, size: (inventory.find(name).shape[axis] ?? 1) * share }];
    });
    if (seen.length === 0) throw inventory.missing(this.name(sources[0][0]));
    const all = [...said > 0 ? [{ name: "", size: said }] : [], ...seen];
    const votes = (size: number) => all.filter((other) => other.size === size).length;
    const best = all.reduce((best, one) => votes(one.size) > votes(best.size) ? one : best);
    const rival = seen.find(({ size }) => size !== best.size && votes(size) === votes(best.size));
    if (Number.isSafeInteger(best.size) && (said > 0 || !rival)) return best.size;
    const state = rival
      ? `its size of ${best.size} does not go together with the ${rival.size} of ` +
        `"${inventory.nameInFile(rival.name)}"`
      : `its size of ${best.size} is none that a tensor of its layer can have`;
    throw inventory.fault(best.name || seen[0].name, state);
  }
}
