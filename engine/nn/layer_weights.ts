// The weights of a layer by their names without `blk.N.`: norms, vectors and matrices, each with
// the shape that the architecture demands. Blocks load their weights through this class.

import type { Buffer, Norm } from "../../kernels/mod.ts";
import type { Rows, Stack, StackOptions, WeightLoader } from "../weights/mod.ts";
import type { Config } from "./config.ts";
import type { Network } from "./network.ts";

/** The options of a norm's weights. */
export interface NormWeights {
  /** Shape of the weight, the length of a vector first. Default: the width of the model. */
  shape?: readonly number[];
  /** Whether all files have a bias, or only some. Default "optional". */
  bias?: "required" | "optional";
  /** A factor of weight and bias. */
  gain?: number;
}

/**
 * A tensor that shows a size: the length of one of its axes, of which the size is a part (default:
 * all of it).
 */
export type SizeSource = readonly [tensor: string, axis: 0 | 1, share?: number];

/** The weights of one layer. With an empty prefix, those that belong to no layer. */
export class LayerWeights {
  constructor(
    readonly network: Network,
    readonly weights: WeightLoader,
    readonly config: Config,
    /** Index of the layer, from 0 on. */
    readonly index: number,
    readonly prefix = `blk.${index}.`,
  ) {}

  /** The full GGUF name of a tensor. */
  name(tensor: string): string {
    return this.prefix + tensor;
  }

  /**
   * Whether the layer has an optional tensor. Errors: GgufError if only some layers of its kind
   * have it.
   */
  has(tensor: string, kind?: string): boolean {
    return this.weights.has(this.name(tensor), kind);
  }

  /**
   * Whether the layer has tensors that belong together. Errors: GgufError if it has only some of
   * them, or only other layers have them.
   */
  hasAll(tensors: readonly string[]): boolean {
    return this.weights.inventory.hasAll(tensors.map((tensor) => this.name(tensor)));
  }

  /**
   * Whether the layer has any of these tensors. If so it is of their kind, and loading reports
   * those that are missing.
   */
  hasAny(tensors: readonly string[]): boolean {
    return this.weights.inventory.hasAny(tensors.map((tensor) => this.name(tensor)));
  }

  /** The layout that the layer's tensors have: the first one of which it has any tensor. */
  choose<T extends readonly string[]>(layouts: readonly T[]): T {
    const names = layouts.map((tensors) => tensors.map((tensor) => this.name(tensor)));
    return layouts[this.weights.inventory.choose(names)];
  }

  /**
   * Ignores tensors of this layer that the model does not use. @param names matched from their
   * beginning
   */
  ignore(names: RegExp): void {
    const prefix = this.prefix.replaceAll(".", "\\.");
    this.weights.inventory.ignore(new RegExp(`^${prefix}(?:${names.source.replace(/^\^/, "")})`));
  }

  /** A small tensor as f32 on the device, padded with zeros to whole groups. */
  vector(tensor: string, shape: readonly number[], gain?: number): Buffer {
    return this.weights.vector(this.name(tensor), shape, gain);
  }

  /** All rows of a tensor of this layer, as an argument of {@linkcode LayerWeights.stack}. */
  all(tensor: string, rows: number): Rows {
    return { name: this.name(tensor), rows };
  }

  /**
   * Some of the rows of a tensor of this layer, as an argument of {@linkcode LayerWeights.stack}.
   */
  some(tensor: string, rows: number, first: number, count: number): Rows {
    return { name: this.name(tensor), rows, ranges: [[first, count]] };
  }

  /** One matrix of the rows of several tensors, in order. */
  stack(tensors: readonly Rows[], columns: number, options?: StackOptions): Promise<Stack> {
    return this.weights.stack(tensors, columns, options);
  }

  /** A matrix [rows, columns] of a tensor of this layer. */
  matrix(tensor: string, rows: number, columns: number, options?: StackOptions): Promise<Stack> {
    return this.stack([this.all(tensor, rows)], columns, options);
  }

  /** A norm: `<tensor>.weight` and, if there is one, `<tensor>.bias`, times `gain`. */
  norm(
    tensor: string,
    kind: "rms" | "layer" = "rms",
    { shape = [this.config.width], bias = "optional", gain = 1 }: NormWeights = {},
  ): Norm {
    // In a few files the name of a norm's weight lacks ".weight".
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
   * A size that a file need not state. It is the one that most of the tensors show, or the
   * metadata's if the tensors are divided.
   *
   * @param said the size in the metadata, 0 if it has none
   * @throws GgufError if all tensors are missing, or if the tensors are divided and the metadata
   *   has no size
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
