// The interface in which an architecture is written: the model's numbers, its layers with their
// weights, and the beginning and end that all models share.

import type { AttentionOptions, FloatRows, Norm } from "../../kernels/mod.ts";
import { layerOf, OF_ENCODERS, type Stack, type WeightLoader } from "../weights/mod.ts";
import type { Config, Heads } from "./config.ts";
import { Layer } from "./layer.ts";
import type { Network } from "./network.ts";
import { longRopeFactors, readRope, type Rope, type RopeChoice } from "./rope.ts";
import { type ChooseTokens, readVocabulary, tokenRows, type Vocabulary } from "./vocabulary.ts";

/**
 * GGUF allows a scale beside every matrix. Only few architectures apply those of feed-forward
 * blocks.
 */
const FEED_FORWARD_SCALES = /\bffn_\w+\.scale$/;

/** The options of the model's output. */
export interface OutputConfig {
  /** Soft cap of the logits. Default 0: none. */
  softcap?: number;
  /**
   * Whether all files have a head. Default "optional": without one, the embeddings are the head.
   */
  head?: "required" | "optional";
  /** Whether the head always has a bias. */
  bias?: "required";
  /** Rows that get the hidden states, see Network.output(). */
  feedBack?: FloatRows;
  /** The tensor of the head. Default: `output.weight`. */
  table?: string;
}

/** How a model is built. */
export interface ModelOptions {
  /** The window that the user wants, in tokens. The model's own may be smaller. */
  readonly window: number;
  /** The tokens whose rows are loaded. Default: all. */
  readonly chooseTokens?: ChooseTokens | undefined;
  /** The model whose embeddings and head this part of it shares. Default: it has its own. */
  readonly trunk?: ModelBuilder;
}

/** A model that is being built. */
export class ModelBuilder {
  /** Tensors that belong to no layer. */
  readonly top: Layer;
  /** The tokens, and the number of rows in tables that have one for each token. */
  readonly vocabulary: Vocabulary;
  /** See {@linkcode ModelOptions.window}. */
  readonly wantedContext: number;
  readonly #trunk: ModelBuilder | undefined;

  constructor(
    readonly network: Network,
    readonly weights: WeightLoader,
    readonly config: Config,
    { window, chooseTokens, trunk }: ModelOptions,
  ) {
    this.wantedContext = window;
    this.#trunk = trunk;
    this.top = new Layer(network, weights, config, -1, "");
    weights.inventory.ignore(FEED_FORWARD_SCALES);
    this.vocabulary = trunk?.vocabulary ?? readVocabulary(this.top, chooseTokens);
  }

  /** Ignores tensors that the architecture, as llama.cpp runs it, does not use. */
  ignore(names: RegExp): void {
    this.weights.inventory.ignore(names);
  }

  /**
   * Applies the scales of feed-forward blocks, `ffn_*.scale`. Only some architectures do so in
   * llama.cpp, which defines what files mean.
   */
  applyFeedForwardScales(): void {
    this.weights.inventory.heed(FEED_FORWARD_SCALES);
  }

  /** The layers, in order. Loading one after the other takes little memory. */
  *layers(count = this.config.layers): Generator<Layer> {
    for (let i = 0; i < count; i++) yield this.layer(i);
  }

  layer(index: number): Layer {
    this.network.beginLayer(index);
    return new Layer(this.network, this.weights, this.config, index);
  }

  /** The heads of a layer. Without `layer`, of the first one. */
  heads(layer?: number): Heads {
    return this.config.heads(layer);
  }

  /** The rotary embedding of the file. */
  rope(choice: RopeChoice): Rope {
    return readRope(this.config, this.weights, choice);
  }

  /** The rotary embedding of the file with its LongRoPE factors for long or for short contexts. */
  longRope(choice: RopeChoice): Rope {
    return this.rope({
      ...choice,
      ...longRopeFactors(this.config, this.weights, this.wantedContext),
    });
  }

  /** The attention temperature, which grows with the position, if the file has one (Mistral). */
  temperature(): AttentionOptions["temperature"] {
    const { config } = this;
    const scale = config.numberOr("attention.temperature_scale", 0);
    if (scale === 0) return undefined;
    const trained = config.countOr("context_length", 8192);
    const original = config.countOr("rope.scaling.original_context_length", trained);
    return { scale, length: config.countOr("attention.temperature_length", original), offset: 0 };
  }

  /**
   * The residual stream: [rows, width]. It is the embeddings of the step's tokens, times `scale`,
   * and the unscaled embeddings of its images. @param table default: `token_embd.weight`
   */
  async embed(
    { scale = 1, label = "residual", table }: { scale?: number; label?: string; table?: string } =
      {},
  ): Promise<FloatRows> {
    const { network, config } = this;
    const { parts: [{ matrix }] } = await (table ? this.#loadTable(table) : this.#embeddings());
    const x = network.scratch(label, config.width);
    network.embed(matrix, x, { scale });
    network.addMedia(x);
    return x;
  }

  /** Ends the model with `norm` and the head. */
  async output(
    x: FloatRows,
    norm: Norm,
    { softcap = 0, head = "optional", bias, feedBack, table }: OutputConfig = {},
  ): Promise<void> {
    this.network.beginLayer();
    const shared = this.#trunk && this.#trunk.#head;
    const stack = table
      ? await this.#loadTable(table)
      : shared ?? await this.#loadHead(x.columns, head, bias);
    this.#head = stack;
    this.network.output(x, norm, { head: stack, softcap, feedBack });
  }

  #head: Stack | undefined;

  async #loadHead(
    columns: number,
    head: OutputConfig["head"],
    bias: OutputConfig["bias"],
  ): Promise<Stack> {
    const name = "output.weight";
    const hasBias = this.top.hasAny(["output.bias"]);
    const isTied = head === "optional" && !hasBias && !this.top.has(name);
    if (isTied) return await this.#embeddings();
    const table = tokenRows(name, this.vocabulary);
    return await this.top.stack([table], columns, { ...bias ? { bias } : {} });
  }

  /**
   * Ends an encoder. Its embeddings are pooled from norm(x), after the `dense` layers if there are
   * any.
   */
  hidden(x: FloatRows, norm: Norm, dense: readonly Stack[] = []): void {
    this.network.output(x, norm, { dense });
  }

  /** Ends the load: every tensor was used, or is known to be unused. Errors: GgufError. */
  checkAllTaken(): void {
    const { layers } = this.config;
    // Layers after the last one predict tokens beyond the next one (multi-token prediction). They
    // are a head with a network of its own, or not used.
    this.weights.inventory.checkAllTaken((name) =>
      layerOf(name) >= layers || OF_ENCODERS.some((names) => names.test(name))
    );
  }

  #embeddingTable: Promise<Stack> | undefined;

  /** The embeddings, which may be the head, too. */
  #embeddings(): Promise<Stack> {
    if (this.#trunk) return this.#trunk.#embeddings();
    return this.#embeddingTable ??= this.#loadTable("token_embd.weight");
  }

  /** A table with a row for each token. */
  async #loadTable(name: string): Promise<Stack> {
    const matrix = await this.weights.table(tokenRows(name, this.vocabulary), this.config.width);
    const parts = [{ matrix, first: 0 }];
    return { parts, columns: matrix.rows, readers: [matrix] };
  }
}
