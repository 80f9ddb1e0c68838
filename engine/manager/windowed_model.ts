// A loaded model for one request, whose window is smaller than the model's: it was loaded for
// somebody who named a larger one. A request that names a window itself gets that.

import {
  type ArgumentOf,
  askModel,
  type ChatModel,
  type EmbedInput,
  type EmbedOptions,
  type MemoryUse,
  MODEL_METHODS,
  type ModelInfo,
  type ModelMethod,
  type ModelMethods,
  modelMethods,
  type Occupancy,
} from "../types/mod.ts";

export interface WindowedModel extends ModelMethods {}

/** A model with a window of its own. Everything else is the model's. */
export class WindowedModel implements ChatModel {
  readonly #model: ChatModel;
  readonly contextLength: number;

  /** @param contextLength window in tokens, at most the model's */
  constructor(model: ChatModel, contextLength: number) {
    this.#model = model;
    this.contextLength = contextLength;
    Object.assign(
      this,
      modelMethods((method, argument) => askModel(model, method, this.#within(method, argument))),
    );
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

  async embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]> {
    return (await this.embedWithUsage({ ...options, inputs })).embeddings;
  }

  close(): Promise<void> {
    return this.#model.close();
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#model[Symbol.asyncDispose]();
  }

  /** The argument of a method, with the window if it is a request that names none. */
  #within<M extends ModelMethod>(method: M, argument: ArgumentOf<M>): ArgumentOf<M> {
    if (MODEL_METHODS[method].takes === "value") return argument;
    const { contextLength = this.contextLength } = argument as { contextLength?: number };
    return { ...argument as object, contextLength } as ArgumentOf<M>;
  }
}
