// Models by name, as a provider of AI SDK: for `createProviderRegistry`, and for programs that choose a
// model by its name.

import type { ChatModel } from "../../mod.ts";
import type {
  EmbeddingModelV4,
  LanguageModelV4,
  ProviderV4,
  RerankingModelV4,
} from "./dependencies.ts";
import { UnsupportedRequestError } from "./errors.ts";
import { embeddingModel, languageModel, type ModelSource, rerankingModel } from "./models.ts";

/** A provider of models that run in this program; called with a name, it gives the language model. */
export interface QuernProvider extends ProviderV4 {
  (modelId: string): LanguageModelV4;
  rerankingModel(modelId: string): RerankingModelV4;
}

/**
 * Makes a provider of models. Each is loaded once, when it is first asked; closing it is left to whoever
 * loads it.
 *
 * @param models by name: models, or functions that load them
 */
export function createQuern(models: Readonly<Record<string, ModelSource>>): QuernProvider {
  const loaded = new Map<string, ModelSource>();
  const sourceOf = (id: string): ModelSource => {
    const model = Object.hasOwn(models, id) ? models[id] : undefined;
    if (model === undefined) {
      const names = Object.keys(models).join(", ");
      throw new UnsupportedRequestError(`Cannot find the model "${id}": there are ${names}`);
    }
    const source = loaded.get(id) ?? once(model);
    loaded.set(id, source);
    return source;
  };
  const asLanguage = (id: string): LanguageModelV4 => languageModel(sourceOf(id), { id });
  return Object.assign(asLanguage, {
    specificationVersion: "v4" as const,
    languageModel: asLanguage,
    embeddingModel: (id: string): EmbeddingModelV4 => embeddingModel(sourceOf(id), { id }),
    rerankingModel: (id: string): RerankingModelV4 => rerankingModel(sourceOf(id), { id }),
    imageModel(id: string): never {
      throw new UnsupportedRequestError(`Cannot make images with "${id}": no model here makes any`);
    },
  });
}

/** Loads a model once, and again only after a failure. */
function once(source: ModelSource): ModelSource {
  if (typeof source !== "function") return source;
  let model: Promise<ChatModel> | undefined;
  return () => {
    model ??= Promise.try(source);
    model.catch(() => model = undefined);
    return model;
  };
}
