// The library's models as AI SDK's: language models, models of embeddings, and models that rank. They run
// in this program; there is no server between.

import type { ChatModel } from "../../mod.ts";
import { PartReader, PartWriter } from "./answer.ts";
import type {
  EmbeddingModelV4,
  EmbeddingModelV4CallOptions,
  EmbeddingModelV4Result,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  RerankingModelV4,
  RerankingModelV4CallOptions,
  RerankingModelV4Result,
} from "./dependencies.ts";
import { requestOf } from "./request.ts";

/** A model, or what loads it when it is first asked. */
export type ModelSource<M = ChatModel> = M | (() => M | Promise<M>);

/** What a wrapped model is called. */
export interface ModelName {
  /** Default: the model's architecture, or "quern" where that is not known yet. */
  readonly id?: string;
}

const PROVIDER = "quern";

/** What a model has in common with its kind. */
class Wrapped<M> {
  readonly specificationVersion = "v4";
  readonly provider = PROVIDER;
  readonly modelId: string;
  readonly #source: ModelSource<M>;
  #model: Promise<M> | undefined;

  constructor(source: ModelSource<M>, { id }: ModelName) {
    this.#source = source;
    const { info } = source as { info?: { architecture?: string } };
    this.modelId = id ?? info?.architecture ?? PROVIDER;
  }

  /** The model. One that could not be loaded is tried again. */
  protected load(): Promise<M> {
    const source = this.#source;
    this.#model ??= Promise.try(() =>
      typeof source === "function" ? (source as () => M | Promise<M>)() : source
    );
    this.#model.catch(() => this.#model = undefined);
    return this.#model;
  }
}

class WrappedLanguageModel extends Wrapped<Pick<ChatModel, "chat">> implements LanguageModelV4 {
  /** None: AI SDK fetches what a prompt refers to. */
  readonly supportedUrls = {};

  async doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const { stream } = await this.doStream(options);
    const reader = new PartReader();
    const parts = stream.getReader();
    let warnings: LanguageModelV4GenerateResult["warnings"] = [];
    for (let part = await parts.read(); !part.done; part = await parts.read()) {
      if (part.value.type === "error") throw part.value.error;
      if (part.value.type === "stream-start") warnings = part.value.warnings;
      reader.take(part.value);
    }
    const { finishReason, usage, providerMetadata } = reader.finish!;
    return {
      content: reader.content,
      finishReason,
      usage,
      warnings,
      ...(providerMetadata && { providerMetadata }),
      response: { modelId: this.modelId },
    };
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const { request, warnings } = requestOf(options);
    const model = await this.load();
    options.abortSignal?.throwIfAborted();
    const events = model.chat(request)[Symbol.asyncIterator]();
    // A request that the model refuses is refused here, before there is a stream.
    const first = await events.next();
    const { modelId } = this;
    const parts = async function* (): AsyncGenerator<LanguageModelV4StreamPart, void> {
      const writer = new PartWriter();
      let isDone = false;
      yield { type: "stream-start", warnings };
      yield { type: "response-metadata", modelId };
      try {
        for (let event = first; !event.done; event = await events.next()) {
          if (options.includeRawChunks) yield { type: "raw", rawValue: event.value };
          isDone ||= event.value.type === "done";
          yield* writer.parts(event.value);
        }
      } finally {
        await events.return?.();
      }
      options.abortSignal?.throwIfAborted();
      if (!isDone) throw new Error("Cannot answer: the model's answer has no end");
    };
    return { stream: streamOf(parts()) };
  }
}

class WrappedEmbeddingModel extends Wrapped<Pick<ChatModel, "embedWithUsage">>
  implements EmbeddingModelV4 {
  readonly maxEmbeddingsPerCall = Infinity;
  readonly supportsParallelCalls = true;

  async doEmbed(options: EmbeddingModelV4CallOptions): Promise<EmbeddingModelV4Result> {
    const { values, dimensions, abortSignal } = options;
    const model = await this.load();
    const { embeddings, promptTokens } = await model.embedWithUsage({
      inputs: values,
      ...(dimensions !== undefined && { dimensions }),
      ...(abortSignal && { signal: abortSignal }),
    });
    return {
      embeddings: embeddings.map((vector) => [...vector]),
      usage: { tokens: promptTokens },
      warnings: [],
    };
  }
}

class WrappedRerankingModel extends Wrapped<Pick<ChatModel, "rank">> implements RerankingModelV4 {
  async doRerank(options: RerankingModelV4CallOptions): Promise<RerankingModelV4Result> {
    const { documents, query, topN = Infinity, abortSignal } = options;
    const texts = documents.type === "text"
      ? documents.values
      : documents.values.map((value) => JSON.stringify(value));
    const model = await this.load();
    const { scores } = await model.rank({
      query,
      documents: texts,
      ...(abortSignal && { signal: abortSignal }),
    });
    const ranking = scores
      .map((relevanceScore, index) => ({ index, relevanceScore }))
      .sort((a, b) => b.relevanceScore - a.relevanceScore)
      .slice(0, topN);
    return { ranking, response: { modelId: this.modelId } };
  }
}

/** A model for `generateText`, `streamText` and everything that is made of them. */
export function languageModel(
  model: ModelSource<Pick<ChatModel, "chat">>,
  name: ModelName = {},
): LanguageModelV4 {
  return new WrappedLanguageModel(model, name);
}

/** A model for `embed` and `embedMany`. */
export function embeddingModel(
  model: ModelSource<Pick<ChatModel, "embedWithUsage">>,
  name: ModelName = {},
): EmbeddingModelV4 {
  return new WrappedEmbeddingModel(model, name);
}

/** A model for `rerank`. */
export function rerankingModel(
  model: ModelSource<Pick<ChatModel, "rank">>,
  name: ModelName = {},
): RerankingModelV4 {
  return new WrappedRerankingModel(model, name);
}

/** A stream of what a generator gives; cancelling it ends the generator. */
function streamOf<T>(parts: AsyncGenerator<T, void>): ReadableStream<T> {
  return new ReadableStream<T>({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await parts.return();
    },
  });
}
