// A loaded model for one request, whose window is smaller than the model's: it was loaded for
// somebody who named a larger one. A request that names a window itself gets that.

import type {
  ChatEvent,
  ChatModel,
  ChatRequest,
  EmbedInput,
  EmbedOptions,
  EmbedRequest,
  EmbedResult,
  GenerateEvent,
  GenerateRequest,
  ImageEmbedding,
  MemoryUse,
  ModelInfo,
  Occupancy,
  TextToken,
} from "../types/mod.ts";

/** A model with a window of its own. Everything else is the model's. */
export class WindowedModel implements ChatModel {
  readonly #model: ChatModel;
  readonly contextLength: number;

  /** @param contextLength window in tokens, at most the model's */
  constructor(model: ChatModel, contextLength: number) {
    this.#model = model;
    this.contextLength = contextLength;
  }

  get info(): ModelInfo {
    return this.#model.info;
  }

  get memory(): MemoryUse {
    return this.#model.memory;
  }

  get occupancy(): Occupancy | undefined {
    return this.#model.occupancy;
  }

  get warnings(): readonly string[] {
    return this.#model.warnings;
  }

  generate(request: GenerateRequest): AsyncIterable<GenerateEvent> {
    return this.#model.generate(this.#within(request));
  }

  chat(request: ChatRequest): AsyncIterable<ChatEvent> {
    return this.#model.chat(this.#within(request));
  }

  renderChat(request: ChatRequest): Promise<string> {
    return this.#model.renderChat(this.#within(request));
  }

  countTokens(request: ChatRequest): Promise<number> {
    return this.#model.countTokens(this.#within(request));
  }

  tokenize(text: string): Promise<TextToken[]> {
    return this.#model.tokenize(text);
  }

  embed(inputs: readonly EmbedInput[], options: EmbedOptions = {}): Promise<Float32Array[]> {
    return this.#model.embed(inputs, this.#within(options));
  }

  embedWithUsage(request: EmbedRequest): Promise<EmbedResult> {
    return this.#model.embedWithUsage(this.#within(request));
  }

  embedImage(image: Uint8Array | string): Promise<ImageEmbedding> {
    return this.#model.embedImage(image);
  }

  close(): Promise<void> {
    return this.#model.close();
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#model[Symbol.asyncDispose]();
  }

  #within<T extends { contextLength?: number }>(request: T): T {
    return { ...request, contextLength: request.contextLength ?? this.contextLength };
  }
}
