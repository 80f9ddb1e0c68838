// The operations of OpenAI's chats and completions, and what all operations of its API share
// (https://platform.openai.com/docs/api-reference).

import { type ErrorSchema, named, type NamedSchema, type Operation } from "../openapi/operation.ts";
import {
  chatChunkSchema,
  chatCompletionSchema,
  completionChunkSchema,
  completionSchema,
  openAiErrorSchema,
} from "./answer_schema.ts";
import { openAiError } from "./errors.ts";
import { openAiChatSchema, openAiCompletionSchema } from "./schema.ts";

/** The errors of OpenAI's API. */
export const openAiErrors: ErrorSchema = {
  ...named("OpenAiError", openAiErrorSchema, openAiError(400, "model is required")),
  tell: (status, message) => openAiError(status, message),
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
const completionHead = { ...chatHead, id: "cmpl-1", object: "text_completion" } as const;

/** An operation that runs a model. */
export function openAiPost(
  operation: Omit<Operation, "tag" | "error" | "method" | "failures">,
): Operation {
  return {
    tag: "OpenAI",
    error: openAiErrors,
    method: "post",
    failures: ["model", "busy", "remote"],
    ...operation,
  };
}

/** A whole answer, or a stream of events. */
export function wholeOrEvents(whole: NamedSchema, event: NamedSchema): Operation["answers"] {
  return { "application/json": whole, "text/event-stream": event };
}

/** OpenAI's chats and completions. */
export const openAiOperations: Operation[] = [
  openAiPost({
    id: "createChatCompletion",
    path: "/v1/chat/completions",
    summary: "Answer a conversation.",
    body: named("ChatCompletionRequest", openAiChatSchema, {
      model,
      messages: [{ role: "user", content: question }],
    }),
    answers: wholeOrEvents(
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
  openAiPost({
    id: "createCompletion",
    path: "/v1/completions",
    summary: "Answer or continue prompts.",
    body: named("CompletionRequest", openAiCompletionSchema, { model, prompt: question }),
    answers: wholeOrEvents(
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
];
