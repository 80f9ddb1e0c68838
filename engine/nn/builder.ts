// What an architecture's file is written with: the model's numbers, its layers with their weights,
// and the beginning and end that all models share.

import type { AttentionOptions, FloatRows, Norm } from "../../kernels/mod.ts";
import type { Stack, WeightLoader } from "../weights.ts";
import type { Config, Heads } from "./config.ts";
import { Layer } from "./layer.ts";
import type { Network } from "./network.ts";
import { longRopeFactors, readRope, type Rope, type RopeChoice } from "./rope.ts";

/** GGUF allows a scale beside every matrix; these ones few architectures apply. */
const FEED_FORWARD_SCALES = /\bffn_\w+\.scale$/;

/** A model while it is built. */
export class ModelBuilder {
  /** Tensors that belong to no layer. */
  readonly top: Layer;

  constructor(
    readonly network: Network,
    readonly weights: WeightLoader,
    readonly config: Config,
    /** The window that was asked for, in tokens; what the model has may be less. */
    readonly wantedContext: number,
  ) {
    this.top = new Layer(network, weights, config, -1, "");
    weights.ignore(FEED_FORWARD_SCALES);
  }

  /**
   * Applies the scales of feed-forward blocks, `ffn_*.scale`. What files mean is fixed by llama.cpp,
   * which does so in some architectures only.
   */
  applyFeedForwardScales(): void {
    this.weights.heed(FEED_FORWARD_SCALES);
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

  /** The same with the factors of LongRoPE, those for long contexts or those for short ones. */
  longRope(choice: RopeChoice): Rope {
    return this.rope({
      ...choice,
      ...longRopeFactors(this.config, this.weights, this.wantedContext),
    });
  }

  /** Queries' temperature that grows with the position, if the file has one (Mistral). */
  temperature(): AttentionOptions["temperature"] {
    const { config } = this;
    const scale = config.numberOr("attention.temperature_scale", 0);
    if (scale === 0) return undefined;
    const trained = config.countOr("context_length", 8192);
    const original = config.countOr("rope.scaling.original_context_length", trained);
    return { scale, length: config.countOr("attention.temperature_length", original), offset: 0 };
  }

  /**
   * The residual stream [rows, width]: the embeddings of the step's tokens, times `scale`, and those of
   * its images as they are.
   */
  async embed({ scale = 1 } = {}): Promise<FloatRows> {
    const { network, config } = this;
    const { parts: [{ matrix }] } = await this.#embeddings();
    const x = network.memory.floats("residual", config.width);
    network.embed(matrix, x, { scale });
    network.add(network.images.next(x));
    return x;
  }

  /** Ends the model: `norm`, and the head, which is the embeddings where the file has none of its own. */
  async output(
    x: FloatRows,
    norm: Norm,
    { softcap = 0 }: { softcap?: number } = {},
  ): Promise<void> {
    const head = this.top.has("output.weight")
      ? await this.top.stack(["output.weight"], x.columns)
      : await this.#embeddings();
    this.network.output(x, norm, { head, softcap });
  }

  /** Ends an encoder: norm(x), and then the `dense` layers, is what its embeddings are pooled from. */
  hidden(x: FloatRows, norm: Norm, dense: readonly Stack[] = []): void {
    this.network.output(x, norm, { dense });
  }

  #embeddingTable: Promise<Stack> | undefined;

  /** The embeddings, which may serve as the head too. */
  #embeddings(): Promise<Stack> {
    const load = async (): Promise<Stack> => {
      const matrix = await this.weights.table("token_embd.weight", this.config.width);
      const parts = [{ matrix, first: 0 }];
      return { parts, columns: matrix.rows, adapters: [], readers: [matrix] };
    };
    return this.#embeddingTable ??= load();
  }
}
