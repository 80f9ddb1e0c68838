// What an architecture's file is written with: the model's numbers, its layers with their weights,
// and the beginning and end that all models share.

import type { FloatRows, Norm } from "../../kernels/mod.ts";
import type { Stack, StackOptions, WeightLoader } from "../weights.ts";
import type { Config, Heads } from "./config.ts";
import { Layer } from "./layer.ts";
import type { Network } from "./network.ts";
import { readRope, type Rope, type RopeChoice } from "./rope.ts";

/** A model while it is built. */
export class ModelBuilder {
  /** Tensors that belong to no layer. */
  readonly top: Layer;

  constructor(
    readonly network: Network,
    readonly weights: WeightLoader,
    readonly config: Config,
  ) {
    this.top = new Layer(network, weights, config, -1, "");
  }

  /** The layers in order; loading one after the other keeps little in memory. */
  *layers(count = this.config.layers): Generator<Layer> {
    for (let i = 0; i < count; i++) yield this.layer(i);
  }

  /** One layer. */
  layer(index: number): Layer {
    return new Layer(this.network, this.weights, this.config, index);
  }

  /** Heads of all layers, or of one. */
  heads(layer?: number): Heads {
    return this.config.heads(layer);
  }

  /** The rotary embedding of the file. */
  rope(choice: RopeChoice): Rope {
    return readRope(this.config, this.weights, choice);
  }

  /** The residual stream [rows, width]: the embeddings of the step's tokens, times `scale`. */
  async embed({ scale = 1 } = {}): Promise<FloatRows> {
    const { network, config } = this;
    const table = await this.#embeddings();
    const x = network.memory.floats("residual", config.width);
    network.embed(table.parts[0].matrix, x, { scale });
    return x;
  }

  /** Ends the model: `norm`, and the head, which is the embeddings where the file has none of its own. */
  async output(
    x: FloatRows,
    norm: Norm,
    { softcap = 0, gain }: { softcap?: number; gain?: number } = {},
  ): Promise<void> {
    const { top } = this;
    const options: StackOptions = gain === undefined ? {} : { gain };
    const own = top.has("output.weight");
    const head = own || gain !== undefined
      ? await top.stack([own ? "output.weight" : "token_embd.weight"], x.columns, options)
      : await this.#embeddings();
    this.network.output(x, norm, { head, softcap });
  }

  /** Ends an encoder: norm(x), and then the `dense` layers, is what its embeddings are pooled from. */
  hidden(x: FloatRows, norm: Norm, dense: readonly Stack[] = []): void {
    this.network.output(x, norm, { dense });
  }

  #table: ReturnType<Layer["stack"]> | undefined;

  #embeddings() {
    return this.#table ??= this.top.stack(["token_embd.weight"], this.config.width);
  }
}
