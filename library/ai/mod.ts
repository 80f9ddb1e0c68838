/**
 * Models of the library as those of Vercel's AI SDK, without a server: `generateText`, `streamText`,
 * structured output, tools, images, embeddings, ranking and aborts.
 *
 * @example Generate a text
 * ```ts ignore
 * import { generateText } from "ai";
 * import { loadModel } from "@quern/quern";
 * import { languageModel } from "@quern/quern/ai";
 *
 * await using model = await loadModel("model.gguf");
 * const { text } = await generateText({ model: languageModel(model), prompt: "Hello!" });
 * ```
 *
 * @module
 */

export { UnsupportedRequestError } from "./errors.ts";
export {
  embeddingModel,
  languageModel,
  type ModelName,
  type ModelSource,
  rerankingModel,
} from "./models.ts";
export { createQuern, type QuernProvider } from "./provider.ts";
