// The operations of OpenAI's API (https://platform.openai.com/docs/api-reference), and of the lists of
// models that its clients and Anthropic's ask for on the same paths.

import {
  chatChunkSchema,
  chatCompletionSchema,
  completionChunkSchema,
  completionSchema,
  openAiEmbeddingsSchema,
  openAiErrorSchema,
  responseEventSchema,
  responseSchema,
  vendorErrorSchema,
  vendorModelSchema,
  vendorModelsSchema,
} from "../schemas/answers/openai.ts";
import { openAiEmbedSchema } from "../schemas/embed.ts";
import {
  openAiChatSchema,
  openAiCompletionSchema,
  openAiResponsesSchema,
} from "../schemas/openai.ts";
import { named, type NamedSchema, type Operation } from "./operation.ts";

const error = named("OpenAiError", openAiErrorSchema);
const vendorError = named("VendorError", vendorErrorSchema);

function post(operation: Omit<Operation, "tag" | "error" | "method">): Operation {
  return { tag: "OpenAI", error, method: "post", ...operation };
}

function list(path: string, summary: string, answer: NamedSchema): Operation {
  const answers = { "application/json": answer };
  return { tag: "OpenAI and Anthropic", error: vendorError, method: "get", path, summary, answers };
}

/** A whole answer, or a stream of events. */
function streamed(whole: NamedSchema, event: NamedSchema): Operation["answers"] {
  return { "application/json": whole, "text/event-stream": event };
}

/** OpenAI's API. */
export const openAiOperations: Operation[] = [
  post({
    path: "/v1/chat/completions",
    summary: "Answer a conversation.",
    body: named("ChatCompletionRequest", openAiChatSchema),
    answers: streamed(
      named("ChatCompletion", chatCompletionSchema),
      named("ChatCompletionChunk", chatChunkSchema),
    ),
  }),
  post({
    path: "/v1/completions",
    summary: "Answer or continue prompts.",
    body: named("CompletionRequest", openAiCompletionSchema),
    answers: streamed(
      named("Completion", completionSchema),
      named("CompletionChunk", completionChunkSchema),
    ),
  }),
  post({
    path: "/v1/responses",
    summary: "Answer a conversation of items; nothing is stored.",
    body: named("ResponseRequest", openAiResponsesSchema),
    answers: streamed(
      named("Response", responseSchema),
      named("ResponseEvent", responseEventSchema),
    ),
  }),
  post({
    path: "/v1/embeddings",
    summary: "Turn texts or token ids into vectors.",
    body: named("EmbeddingsRequest", openAiEmbedSchema),
    answers: { "application/json": named("Embeddings", openAiEmbeddingsSchema) },
  }),
  list(
    "/v1/models",
    "List the models of this machine; in Anthropic's form if the request has its version header.",
    named("VendorModels", vendorModelsSchema),
  ),
  list(
    "/v1/models/{model}",
    "Tell of one model; in Anthropic's form if the request has its version header.",
    named("VendorModel", vendorModelSchema),
  ),
];
