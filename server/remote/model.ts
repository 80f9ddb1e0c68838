// A model that runs on another server, behind the interface of local models: requests are
// forwarded, and a request that is aborted here is aborted there. It takes no memory here.

import {
  type CacheState,
  type ChatEvent,
  type ChatModel,
  type ChatRequest,
  ChatTemplateError,
  type DecideResult,
  type EmbedInput,
  type EmbedOptions,
  type EmbedRequest,
  type EmbedResult,
  type GenerateEvent,
  type GenerateRequest,
  ModelClosedError,
  type ModelInfo,
  type RankResult,
  RequestError,
  type TextToken,
  type TokenScore,
} from "../../engine/mod.ts";
import type { RemoteCall, RemoteDialect } from "./dialect.ts";
import type { RemoteServer } from "./server.ts";

/** Why nothing is known of its tokens. */
const ELSEWHERE = "the model runs on another server, which does not tell its tokens";

type Ask<T> = (dialect: RemoteDialect, call: RemoteCall) => T;

const UNSCORED = "it runs on another server, which does not tell the probabilities of given tokens";

/** The model. */
export class RemoteModel implements ChatModel {
  readonly info: ModelInfo;
  readonly contextLength: number;
  readonly memory = { weights: 0, keyValueCache: 0, scratch: 0 };
  readonly warnings: readonly string[] = [];
  readonly #server: RemoteServer;
  readonly #model: string;
  readonly #closing = new AbortController();

  /** @param model its name at the server */
  constructor(server: RemoteServer, model: string, info: ModelInfo) {
    this.#server = server;
    this.#model = model;
    this.info = info;
    this.contextLength = info.trainedContextLength;
  }

  /** @throws {RequestError} where the tokens of the prompt are to be scored */
  generate(request: GenerateRequest): AsyncGenerator<GenerateEvent> {
    if (request.promptLogprobs !== undefined) {
      throw new RequestError(`Cannot tell how likely the prompt was: ${UNSCORED}`);
    }
    return this.#stream(request, (dialect, call) => dialect.generate(call, request));
  }

  chat(request: ChatRequest): AsyncGenerator<ChatEvent> {
    return this.#stream(request, (dialect, call) => dialect.chat(call, request));
  }

  /** @throws {ChatTemplateError} if the server does not show its prompts */
  async renderChat(request: ChatRequest): Promise<string> {
    try {
      return await this.#ask(request.signal, (dialect, call) => dialect.render(call, request));
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      throw new ChatTemplateError("refused", error.message, { cause: error });
    }
  }

  async countTokens(request: ChatRequest): Promise<number> {
    return await this.#ask(
      request.signal,
      (_, call) => this.#server.countTokens(call, request),
    );
  }

  /** @throws {RequestError} always: other servers tell numbers of tokens at most */
  tokenize(): Promise<TextToken[]> {
    return Promise.reject(new RequestError(`Cannot split a text into tokens: ${ELSEWHERE}`));
  }

  /** @throws {RequestError} always, likewise */
  detokenize(): Promise<string> {
    return Promise.reject(new RequestError(`Cannot tell the text of tokens: ${ELSEWHERE}`));
  }

  /** Nothing: other servers do not tell. */
  cacheState(): Promise<CacheState> {
    return Promise.resolve({ blockTokens: 0, conversations: [] });
  }

  /** @throws {RequestError} always: other servers rank in no form that is known here */
  rank(): Promise<RankResult> {
    return Promise.reject(
      new RequestError("Cannot rank with this model: it runs on another server; ask that one"),
    );
  }

  /** @throws {RequestError} always: other servers do not tell the probabilities of options */
  decide(): Promise<DecideResult> {
    const where =
      "it runs on another server, which does not tell the probabilities of given options";
    return Promise.reject(new RequestError(`Cannot decide with this model: ${where}`));
  }

  /** @throws {RequestError} always: other servers do not tell the probabilities of a given text */
  score(): Promise<TokenScore[][]> {
    return Promise.reject(new RequestError(`Cannot score texts with this model: ${UNSCORED}`));
  }

  async embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]> {
    return (await this.embedWithUsage({ ...options, inputs })).embeddings;
  }

  async embedWithUsage(request: EmbedRequest): Promise<EmbedResult> {
    const result = await this.#ask(
      request.signal,
      (dialect, call) => dialect.embed(call, request),
    );
    if (result.embeddings.length === request.inputs.length) return result;
    const { length } = result.embeddings;
    throw this.#server.client.error(502, `it gave ${length} vectors for ${request.inputs.length}`);
  }

  /** @throws {RequestError} always: other servers do not show what a model computes */
  run(): Promise<never> {
    const where = "it runs on another server; load it from a file";
    return Promise.reject(new RequestError(`Cannot look into the model: ${where}`));
  }

  /** @throws {RequestError} always: other servers do not show what a model computes */
  async *capture(): AsyncGenerator<never> {
    yield await this.run();
  }

  /** @throws {RequestError} always: no dialect tells what a model reads of an image */
  embedImage(): Promise<never> {
    return Promise.reject(
      new RequestError(
        "Cannot embed the image: the model runs on another server; load it from a file",
      ),
    );
  }

  /** @throws {RequestError} always: sounds are not forwarded */
  transcribe(): AsyncGenerator<never> {
    throw new RequestError(
      "Cannot transcribe speech: the model runs on another server; ask that one",
    );
  }

  close(): Promise<void> {
    this.#closing.abort(new ModelClosedError("Cannot answer: the model was closed"));
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** An abort ends the stream without `done`, as it does in models of this machine. */
  async *#stream<T>(
    { signal: asked, hooks, logitsProcessors, sampler, lora = [] }: GenerateRequest | ChatRequest,
    ask: Ask<AsyncIterable<T>>,
  ): AsyncGenerator<T> {
    if (hooks) await this.run();
    if (logitsProcessors?.length || sampler) {
      throw new RequestError(
        "Cannot run functions over logits: the model runs on another server; load it from a file",
      );
    }
    if (lora.length > 0) {
      throw new RequestError("Cannot apply adapters: the model runs on another server");
    }
    try {
      const call = this.#call(asked);
      yield* ask(await this.#server.dialect(call.signal), call);
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      if (!asked?.aborted) throw error;
    }
  }

  async #ask<T>(asked: AbortSignal | undefined, ask: Ask<Promise<T>>): Promise<T> {
    const call = this.#call(asked);
    return await ask(await this.#server.dialect(call.signal), call);
  }

  #call(asked: AbortSignal | undefined): RemoteCall {
    const signals = [this.#closing.signal, ...(asked ? [asked] : [])];
    const signal = AbortSignal.any(signals);
    return { client: this.#server.client, model: this.#model, signal };
  }
}
