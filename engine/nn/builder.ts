// What an architecture's file is written with: the model's numbers, its layers with their weights,
// and the beginning and end that all models share.

import type { AttentionOptions, FloatRows, Norm } from "../../kernels/mod.ts";
import { layerOf, OF_ENCODERS, type Stack, type WeightLoader } from "../weights/mod.ts";
import type { Config, Heads } from "./config.ts";
import { Layer } from "./layer.ts";
import type { Network } from "./network.ts";
import { longRopeFactors, readRope, type Rope, type RopeChoice } from "./rope.ts";
import { readVocabulary, type Vocabulary } from "./vocabulary.ts";

/** GGUF allows a scale beside every matrix; these ones few architectures apply. */
const FEED_FORWARD_SCALES = /\bffn_\w+\.scale$/;

/** How a model ends. */
export interface OutputConfig {
  /** Soft cap of the logits. Default 0: none. */
  softcap?: number;
  /** Whether all files have a head of their own; else it may be the embeddings, which is the default. */
  head?: "required" | "optional";
  /** Whether the head always has a bias. */
  bias?: "required";
}

/** A model while it is built. */
export class ModelBuilder {
  /** Tensors that belong to no layer. */
  readonly top: Layer;
  /** Tokens, and rows of the tables that have one for each. */
  readonly vocabulary: Vocabulary;

  constructor(
    readonly network: Network,
    readonly weights: WeightLoader,
    readonly config: Config,
    /** The window that was asked for, in tokens; what the model has may be less. */
    readonly wantedContext: number,
  ) {
    this.top = new Layer(network, weights, config, -1, "");
    weights.inventory.ignore(FEED_FORWARD_SCALES);
    this.vocabulary = readVocabulary(this.top);
  }

  /** Leaves tensors alone that the architecture, as llama.cpp runs it, does not apply. */
  ignore(names: RegExp): void {
    this.weights.inventory.ignore(names);
  }

  /**
   * Applies the scales of feed-forward blocks, `ffn_*.scale`. What files mean is fixed by llama.cpp,
   * which does so in some architectures only.
   */
  applyFeedForwardScales(): void {
    this.weights.inventory.heed(FEED_FORWARD_SCALES);
  }

  /** The layers in order; loading one after the other keeps little in memory. */
  *layers(count = this.config.layers): Generator<Layer> {
    for (let i = 0; i < count; i++) yield this.layer(i);
  }

  /** One layer. */
  layer(index: number): Layer {
    this.network.beginLayer(index);
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
    const x = network.scratch("residual", config.width);
    network.embed(matrix, x, { scale });
    network.addImages(x);
    return x;
  }

  /** Ends the model: `norm`, and the head. */
  async output(
    x: FloatRows,
    norm: Norm,
    { softcap = 0, head = "optional", bias }: OutputConfig = {},
  ): Promise<void> {
    this.network.beginLayer();
    const name = "output.weight";
    const hasBias = this.top.hasAny(["output.bias"]);
    const isTied = head === "optional" && !hasBias && !this.top.has(name);
    const { rows, tokens } = this.vocabulary;
    const stack = isTied
      ? await this.#embeddings()
      : await this.top.stack([this.top.some(name, rows, 0, tokens)], x.columns, {
        ...bias ? { bias } : {},
      });
    this.network.output(x, norm, { head: stack, softcap });
  }

  /** Ends an encoder: norm(x), and then the `dense` layers, is what its embeddings are pooled from. */
  hidden(x: FloatRows, norm: Norm, dense: readonly Stack[] = []): void {
    this.network.output(x, norm, { dense });
  }

  /** Ends the load: all of the file was read, or is known to be of no use. Errors: GgufError. */
  checkAllTaken(): void {
    const { layers } = this.config;
    // Layers after the last predict more than the next token.
    this.weights.inventory.checkAllTaken((name) =>
      layerOf(name) >= layers || OF_ENCODERS.some((names) => names.test(name))
    );
  }

  #embeddingTable: Promise<Stack> | undefined;

  /** The embeddings, which may serve as the head too. */
  #embeddings(): Promise<Stack> {
    const load = async (): Promise<Stack> => {
      const { rows, tokens } = this.vocabulary;
      const table = this.top.some("token_embd.weight", rows, 0, tokens);
      const matrix = await this.weights.table(table, this.config.width);
      const parts = [{ matrix, first: 0 }];
      return { parts, columns: matrix.rows, adapters: [], readers: [matrix] };
    };
    return this.#embeddingTable ??= load();
  }
}
