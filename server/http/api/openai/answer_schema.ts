// JSON Schemas of what OpenAI's chats and completions answer, streams included, and the types that
// follow from them. Responses: responses/answer_schema.ts. Formats:
// https://platform.openai.com/docs/api-reference/chat and .../completions

import type { BodyOf } from "../../body/schema.ts";
import {
  anyOf,
  count,
  deviations,
  list,
  logprobSchema,
  nothing,
  number,
  promptProgress,
  record,
  text,
  textOrNull,
} from "../openapi/answer_parts.ts";

/** The form of an error, also within a stream. */
export const openAiErrorSchema = record({
  error: record({ message: text, type: text, param: textOrNull, code: textOrNull }),
});

export type OpenAiError = BodyOf<typeof openAiErrorSchema>;

const usage = record({
  prompt_tokens: { ...count, description: "Cached ones included." },
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: record({ cached_tokens: count }),
}, {
  completion_tokens_details: record({
    accepted_prediction_tokens: { ...count, description: "Drafted tokens that came." },
    rejected_prediction_tokens: { ...count, description: "Drafted tokens that did not." },
  }),
});

/** Counts, as both kinds of completions have them. */
export type CompletionUsage = BodyOf<typeof usage>;

const head = { id: text, created: count, model: text, system_fingerprint: text } as const;

const toolCall = record({
  index: count,
  id: text,
  type: { const: "function" },
  function: record({ name: text, arguments: { ...text, description: "JSON text." } }),
});

/** A call, or the first piece of one. */
export type ToolCall = BodyOf<typeof toolCall>;

const logprobs = record({ content: list(logprobSchema), refusal: nothing });

/** Log-probabilities of a chat's text. */
export type ChatLogprobs = BodyOf<typeof logprobs>;

const chatFinish = { enum: ["stop", "length", "tool_calls"] } as const;

export type ChatFinish = BodyOf<typeof chatFinish>;

/** Answer of POST /v1/chat/completions. */
export const chatCompletionSchema = record({
  ...head,
  object: { const: "chat.completion" },
  choices: list(record({
    index: count,
    message: record({
      role: { const: "assistant" },
      content: textOrNull,
      refusal: nothing,
    }, { reasoning: text, tool_calls: list(toolCall) }),
    logprobs: anyOf(logprobs, nothing),
    finish_reason: chatFinish,
  })),
  usage,
}, deviations);

export type ChatCompletion = BodyOf<typeof chatCompletionSchema>;

const callPiece = record({ index: count, function: record({ arguments: text }) });

const delta = record({}, {
  role: { const: "assistant" },
  content: text,
  reasoning: text,
  tool_calls: list(anyOf(toolCall, callPiece)),
});

/** The addition of a chunk. */
export type ChatDelta = BodyOf<typeof delta>;

const chatChunk = record({
  ...head,
  object: { const: "chat.completion.chunk" },
  choices: list(record({
    index: count,
    delta,
    finish_reason: anyOf(chatFinish, nothing),
  }, { logprobs })),
}, { usage: anyOf(usage, nothing), prompt_progress: promptProgress, ...deviations });

export type ChatChunk = BodyOf<typeof chatChunk>;

/** An event of its stream. */
export const chatChunkSchema = anyOf(chatChunk, openAiErrorSchema);

const completionFinish = { enum: ["stop", "length"] } as const;

const completionLogprobs = record({
  tokens: list(text),
  token_logprobs: list(anyOf(number, nothing)),
  top_logprobs: {
    ...list(anyOf({ type: "object", additionalProperties: number } as const, nothing)),
    description: "The token that came and the likeliest ones; of those with the same text, the " +
      "likeliest.",
  },
  text_offset: {
    ...list(count),
    description: "Where each begins, in characters of the whole text.",
  },
});

const promptLogprobs = {
  ...list(anyOf(
    {
      type: "object",
      additionalProperties: record({
        logprob: { ...number, description: "The natural logarithm of its probability." },
        rank: { ...count, description: "1 for the likeliest token at this position." },
        decoded_token: { ...text, description: "Its text." },
      }),
    } as const,
    nothing,
  )),
  description: "The tokens of the prompt: each, and the likeliest in its place, by their ids.",
} as const;

/** The tokens of a prompt with their log-probabilities, as vLLM writes them. */
export type PromptLogprobs = BodyOf<typeof promptLogprobs>;

/** Log-probabilities of a completion: lists side by side, a token each. */
export type CompletionLogprobs = BodyOf<typeof completionLogprobs>;

function completionMembers<const Finish extends object>(finish: Finish) {
  const choice = record({
    text,
    index: count,
    logprobs: anyOf(completionLogprobs, nothing),
    finish_reason: finish,
  }, { prompt_logprobs: promptLogprobs });
  return { ...head, object: { const: "text_completion" }, choices: list(choice) } as const;
}

/** Answer of POST /v1/completions. */
export const completionSchema = record(
  { ...completionMembers(completionFinish), usage },
  deviations,
);

export type Completion = BodyOf<typeof completionSchema>;

const completionChunk = record(completionMembers(anyOf(completionFinish, nothing)), {
  usage: anyOf(usage, nothing),
  ...deviations,
});

export type CompletionChunk = BodyOf<typeof completionChunk>;

/** An event of its stream. */
export const completionChunkSchema = anyOf(completionChunk, openAiErrorSchema);
