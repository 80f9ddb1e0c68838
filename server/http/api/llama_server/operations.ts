// The operations that are llama-server's own.

import { openAiErrors } from "../openai/operations.ts";
import { openAiChatSchema } from "../openai/schema.ts";
import { named, type Operation, type Parameter, whole } from "../openapi/operation.ts";
import { lookupSchema, streamsSchema } from "../streams/schema.ts";
import {
  llamaAdaptersSchema,
  llamaCompletionAnswerSchema,
  llamaPromptSchema,
  llamaSuccessSchema,
  llamaTextSchema,
  llamaTokensSchema,
  propsSchema,
  slotsSchema,
} from "./answer_schema.ts";
import {
  llamaAdaptersBodySchema,
  llamaCompletionSchema,
  llamaDetokenizeSchema,
  llamaInfillSchema,
  llamaTokenizeSchema,
} from "./schema.ts";

const model = "quern:tiny";

const MODEL: Parameter[] = [{
  name: "model",
  in: "query",
  description: "Name of the model. Default: the one that is loaded, or the only one.",
  schema: { type: "string" },
}];

function ofLlama(operation: Omit<Operation, "tag" | "error">): Operation {
  return { tag: "llama-server", error: openAiErrors, parameters: MODEL, ...operation };
}

const CONVERSATION: Parameter = {
  name: "conv_id",
  in: "query",
  description: "The conversation, as the header x-conversation-id of its request named it.",
  schema: { type: "string" },
};

const completion = named("LlamaCompletion", llamaCompletionAnswerSchema, {
  index: 0,
  content: "Run `quern pull NAME`.",
  stop: true,
});

/** llama-server's routes. */
export const llamaServerOperations: Operation[] = [
  ofLlama({
    id: "getProps",
    method: "get",
    path: "/props",
    summary: "Tell of a model what llama-server tells of its own.",
    answers: whole("LlamaProps", propsSchema, {
      model_alias: model,
      model_path: model,
      build_info: "quern-0.1.0",
      default_generation_settings: { n_ctx: 2048 },
      modalities: { vision: false, audio: false },
      chat_template: "{% for message in messages %}…{% endfor %}",
      is_loaded: true,
      total_slots: 4,
    }),
    failures: ["request", "model"],
  }),
  ofLlama({
    id: "getSlots",
    method: "get",
    path: "/slots",
    summary: "Tell which places of a loaded model are at work.",
    answers: whole("LlamaSlots", slotsSchema, [{ id: 0, n_ctx: 2048, is_processing: false }]),
    failures: ["request", "model"],
  }),
  ofLlama({
    id: "getLoraAdapters",
    method: "get",
    path: "/lora-adapters",
    summary: "List a model's LoRA adapters.",
    answers: whole("LlamaAdapters", llamaAdaptersSchema, [
      { id: 0, path: "formal", name: "formal", scale: 1 },
    ]),
    failures: ["request", "model"],
  }),
  ofLlama({
    id: "setLoraAdapters",
    method: "post",
    path: "/lora-adapters",
    summary: "Set the adapters of requests that name none, and their factors.",
    body: named("LlamaAdaptersRequest", llamaAdaptersBodySchema, []),
    answers: whole("LlamaSuccess", llamaSuccessSchema, { success: true }),
    failures: ["request", "model"],
  }),
  ofLlama({
    id: "llamaTokenize",
    method: "post",
    path: "/tokenize",
    summary: "Split a text into the ids of tokens.",
    body: named("LlamaTokenizeRequest", llamaTokenizeSchema, { model, content: "Hi" }),
    answers: whole("LlamaTokens", llamaTokensSchema, { tokens: [72] }),
    failures: ["model", "busy"],
  }),
  ofLlama({
    id: "llamaDetokenize",
    method: "post",
    path: "/detokenize",
    summary: "Join tokens to a text.",
    body: named("LlamaDetokenizeRequest", llamaDetokenizeSchema, { model, tokens: [72] }),
    answers: whole("LlamaText", llamaTextSchema, { content: "Hi" }),
    failures: ["model", "busy"],
  }),
  ofLlama({
    id: "applyTemplate",
    method: "post",
    path: "/apply-template",
    summary: "Lay a conversation out as the model's template does, without an answer.",
    body: named("ChatCompletionRequest", openAiChatSchema, {
      model,
      messages: [{ role: "user", content: "How do I pull a model?" }],
    }),
    answers: whole("LlamaPrompt", llamaPromptSchema, { prompt: "<|user|>How do I pull a model?" }),
    failures: ["model", "busy"],
  }),
  ofLlama({
    id: "llamaCompletion",
    method: "post",
    path: "/completion",
    summary: "Continue a text as it is.",
    body: named("LlamaCompletionRequest", llamaCompletionSchema, { model, prompt: "To pull" }),
    answers: { "application/json": completion, "text/event-stream": completion },
    failures: ["model", "busy", "remote"],
  }),
  ofLlama({
    id: "infill",
    method: "post",
    path: "/infill",
    summary: "Fill the gap between two texts, with a model that has tokens for that.",
    body: named("LlamaInfillRequest", llamaInfillSchema, {
      model,
      input_prefix: "def add(a, b):\n",
      input_suffix: "\n    return sum",
    }),
    answers: { "application/json": completion, "text/event-stream": completion },
    failures: ["model", "busy", "remote"],
  }),
  ofLlama({
    id: "resumeStream",
    method: "get",
    path: "/v1/stream",
    summary: "Give what a client has not got of a stream whose request named its conversation.",
    parameters: [
      CONVERSATION,
      {
        name: "from",
        in: "query",
        description: "How many bytes of the stream have come.",
        schema: { type: "integer", minimum: 0, default: 0 },
      },
      {
        name: "last-event-id",
        in: "header",
        description: "The id of the last event that has come; it counts instead of `from`.",
        schema: { type: "integer", minimum: 0 },
      },
    ],
    answers: { "text/event-stream": named("StreamEvent", { type: "object" }, {}) },
    failures: ["response"],
  }),
  ofLlama({
    id: "endStream",
    method: "delete",
    path: "/v1/stream",
    summary: "End the answer of a conversation, and drop its stream.",
    parameters: [CONVERSATION],
    successes: { 204: "There is no such stream any more." },
    answers: {},
  }),
  ofLlama({
    id: "lookupStreams",
    method: "post",
    path: "/v1/streams/lookup",
    summary: "Tell which streams of conversations there are, and how far they have come.",
    parameters: [],
    body: named("StreamLookup", lookupSchema, { conversation_ids: ["chat-1"] }),
    answers: whole("Streams", streamsSchema, [{
      conversation_id: "chat-1",
      is_done: false,
      total_bytes: 8192,
      started_at: 1_795_413_005,
      completed_at: 0,
    }]),
  }),
];
