// The operations of Anthropic's Messages API (https://docs.anthropic.com/en/api/messages).

import { messagesSchema } from "../schemas/anthropic.ts";
import {
  anthropicErrorSchema,
  messageEventSchema,
  messageSchema,
  tokenCountSchema,
} from "../schemas/answers/anthropic.ts";
import { named, type Operation } from "./operation.ts";

const common = {
  tag: "Anthropic",
  method: "post",
  body: named("MessagesRequest", messagesSchema),
  error: named("AnthropicError", anthropicErrorSchema),
} as const;

/** Anthropic's API. */
export const anthropicOperations: Operation[] = [
  {
    ...common,
    path: "/v1/messages",
    summary: "Answer a conversation.",
    answers: {
      "application/json": named("Message", messageSchema),
      "text/event-stream": named("MessageEvent", messageEventSchema),
    },
  },
  {
    ...common,
    path: "/v1/messages/count_tokens",
    summary: "Count the tokens of what POST /v1/messages would read; max_tokens is not needed.",
    answers: { "application/json": named("TokenCount", tokenCountSchema) },
  },
];
