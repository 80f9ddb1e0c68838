// The operations of OpenAI's API (https://platform.openai.com/docs/api-reference), and of the lists of
// models that its clients and Anthropic's ask for on the same paths.

import {
  chatChunkSchema,
  chatCompletionSchema,
  completionChunkSchema,
  completionSchema,
  deletedResponseSchema,
  inputItemsSchema,
  openAiEmbeddingsSchema,
  openAiErrorSchema,
  responseEventSchema,
  responseSchema,
  vendorErrorSchema,
  vendorModelSchema,
  vendorModelsSchema,
} from "./answer_schema.ts";
import { openAiEmbedSchema } from "../embed/schema.ts";
import { openAiChatSchema, openAiCompletionSchema, openAiResponsesSchema } from "./schema.ts";
import { openAiError } from "./error.ts";
import { ResponsesEncoder } from "./responses/events.ts";
import { toKeptItems, toResponseId } from "./responses/kept_items.ts";
import {
  type ErrorSchema,
  named,
  type NamedSchema,
  type Operation,
  type Parameter,
} from "../openapi/operation.ts";

const missing = openAiError(400, "model is required");
const error: ErrorSchema = {
  ...named("OpenAiError", openAiErrorSchema, missing),
  tell: (status, message) => openAiError(status, message),
};
const vendorError: ErrorSchema = {
  ...error,
  ...named("VendorError", vendorErrorSchema, missing),
};

/** The model of examples: the one in the box. */
const model = "quern:tiny";
const question = "How do I pull a model?";
const said = "Run `quern pull NAME`.";
const created = 1_795_413_005;

const usage = {
  prompt_tokens: 15,
  completion_tokens: 12,
  total_tokens: 27,
  prompt_tokens_details: { cached_tokens: 0 },
};

const chatHead = { id: "chatcmpl-1", created, model, system_fingerprint: "fp_ollama" };
const completionHead = { ...chatHead, id: "cmpl-1", object: "text_completion" };
const openAiModel = { id: model, object: "model", created, owned_by: "library" };

const ID = "0".repeat(48);
const RESPONSE_ID = toResponseId(ID);
const responseRequest = { model, input: question };
const textEvent = {
  type: "response.output_text.delta",
  sequence_number: 4,
  item_id: `msg_${ID}0`,
  output_index: 0,
  content_index: 0,
  delta: "Run",
  logprobs: [],
};

const response = named("Response", responseSchema, exampleResponse());

/** A response as the server makes it. */
function exampleResponse(): unknown {
  const now = () => new Date(created * 1000);
  const head = { id: ID, model, now, elapsed: () => 0, loadMilliseconds: 0 };
  const answer = new ResponsesEncoder(head, responseRequest);
  answer.add({ type: "text", text: said });
  answer.add({
    type: "done",
    reason: "stop",
    usage: {
      promptTokens: 15,
      cachedTokens: 0,
      completionTokens: 12,
      promptMilliseconds: 57,
      completionMilliseconds: 132,
    },
  });
  return answer.whole();
}

function post(
  operation: Omit<Operation, "tag" | "error" | "method" | "failures">,
): Operation {
  return {
    tag: "OpenAI",
    error,
    method: "post",
    failures: ["model", "busy", "remote"],
    ...operation,
  };
}

function ofKept(
  operation: Pick<Operation, "id" | "method" | "path" | "summary" | "parameters" | "answers">,
): Operation {
  return { tag: "OpenAI", error, failures: ["response"], ...operation };
}

const PAGE: Parameter[] = [
  {
    name: "limit",
    in: "query",
    description: "How many items.",
    schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  },
  {
    name: "order",
    in: "query",
    description: "The last items first, or the first.",
    schema: { enum: ["desc", "asc"], default: "desc" },
  },
  {
    name: "after",
    in: "query",
    description: "Id of the item after which to go on.",
    schema: { type: "string" },
  },
];

const VERSION_HEADER: Parameter = {
  name: "anthropic-version",
  in: "header",
  description: "Asks for Anthropic's form.",
  schema: { type: "string" },
};

function list(operation: Pick<Operation, "id" | "path" | "summary" | "failures" | "answers">) {
  return {
    tag: "OpenAI and Anthropic",
    error: vendorError,
    method: "get",
    parameters: [VERSION_HEADER],
    ...operation,
  } satisfies Operation;
}

/** A whole answer, or a stream of events. */
function streamed(whole: NamedSchema, event: NamedSchema): Operation["answers"] {
  return { "application/json": whole, "text/event-stream": event };
}

/** OpenAI's API. */
export const openAiOperations: Operation[] = [
  post({
    id: "createChatCompletion",
    path: "/v1/chat/completions",
    summary: "Answer a conversation.",
    body: named("ChatCompletionRequest", openAiChatSchema, {
      model,
      messages: [{ role: "user", content: question }],
    }),
    answers: streamed(
      named("ChatCompletion", chatCompletionSchema, {
        ...chatHead,
        object: "chat.completion",
        choices: [{
          index: 0,
          message: { role: "assistant", content: said, refusal: null },
          logprobs: null,
          finish_reason: "stop",
        }],
        usage,
      }),
      named("ChatCompletionChunk", chatChunkSchema, {
        ...chatHead,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content: "Run" }, finish_reason: null }],
      }),
    ),
  }),
  post({
    id: "createCompletion",
    path: "/v1/completions",
    summary: "Answer or continue prompts.",
    body: named("CompletionRequest", openAiCompletionSchema, { model, prompt: question }),
    answers: streamed(
      named("Completion", completionSchema, {
        ...completionHead,
        choices: [{ text: said, index: 0, logprobs: null, finish_reason: "stop" }],
        usage,
      }),
      named("CompletionChunk", completionChunkSchema, {
        ...completionHead,
        choices: [{ text: "Run", index: 0, logprobs: null, finish_reason: null }],
      }),
    ),
  }),
  post({
    id: "createResponse",
    path: "/v1/responses",
    summary: "Answer a conversation of items. The response is kept, unless store is false.",
    body: named("ResponseRequest", openAiResponsesSchema, responseRequest),
    answers: streamed(
      response,
      named("ResponseEvent", responseEventSchema, textEvent),
    ),
  }),
  ofKept({
    id: "retrieveResponse",
    method: "get",
    path: "/v1/responses/{response_id}",
    summary: "Give a response that is kept.",
    answers: { "application/json": response },
  }),
  ofKept({
    id: "deleteResponse",
    method: "delete",
    path: "/v1/responses/{response_id}",
    summary: "Drop a response that is kept.",
    answers: {
      "application/json": named("DeletedResponse", deletedResponseSchema, {
        id: RESPONSE_ID,
        object: "response",
        deleted: true,
      }),
    },
  }),
  ofKept({
    id: "listInputItems",
    method: "get",
    path: "/v1/responses/{response_id}/input_items",
    summary: "List what went into a response that is kept, earlier turns included.",
    parameters: PAGE,
    answers: {
      "application/json": named("InputItems", inputItemsSchema, {
        object: "list",
        data: toKeptItems(question, ID, []),
        first_id: `msg_${ID}i0`,
        last_id: `msg_${ID}i0`,
        has_more: false,
      }),
    },
  }),
  post({
    id: "createEmbeddings",
    path: "/v1/embeddings",
    summary: "Turn texts or token ids into vectors.",
    body: named("EmbeddingsRequest", openAiEmbedSchema, { model, input: ["one text", "another"] }),
    answers: {
      "application/json": named("Embeddings", openAiEmbeddingsSchema, {
        object: "list",
        data: [
          { object: "embedding", embedding: [0.6, -0.8], index: 0 },
          { object: "embedding", embedding: [0.8, 0.6], index: 1 },
        ],
        model,
        usage: { prompt_tokens: 4, total_tokens: 4 },
      }),
    },
  }),
  list({
    id: "listModelsOfVendors",
    path: "/v1/models",
    summary: "List the models of this machine.",
    answers: {
      "application/json": named("VendorModels", vendorModelsSchema, {
        object: "list",
        data: [openAiModel],
      }),
    },
  }),
  list({
    id: "retrieveModel",
    path: "/v1/models/{model}",
    summary: "Tell of one model.",
    answers: { "application/json": named("VendorModel", vendorModelSchema, openAiModel) },
    failures: ["model"],
  }),
];
