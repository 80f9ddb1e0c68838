// The operations of Anthropic's Messages API (https://docs.anthropic.com/en/api/messages).

import { HttpError } from "../../errors.ts";
import { messagesSchema } from "./schema.ts";
import {
  anthropicErrorSchema,
  messageEventSchema,
  messageSchema,
  tokenCountSchema,
} from "./answer_schema.ts";
import type { ContentfulStatusCode } from "../../../dependencies.ts";
import { anthropicError } from "./errors.ts";
import { named, type Operation } from "../openapi/operation.ts";

const tell = (status: number, message: string) =>
  anthropicError(new HttpError(status as ContentfulStatusCode, message), "req_1");

const common = {
  tag: "Anthropic",
  method: "post",
  body: named("MessagesRequest", messagesSchema, {
    model: "quern:tiny",
    max_tokens: 100,
    messages: [{ role: "user", content: "How do I pull a model?" }],
  }),
  failures: ["model", "busy", "remote"],
  error: {
    ...named("AnthropicError", anthropicErrorSchema, tell(400, "messages is required")),
    tell,
  },
} satisfies Partial<Operation>;

/** Anthropic's API. */
export const anthropicOperations: Operation[] = [
  {
    ...common,
    id: "createMessage",
    path: "/v1/messages",
    summary: "Answer a conversation.",
    answers: {
      "application/json": named("Message", messageSchema, {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "quern:tiny",
        content: [{ type: "text", text: "Say quern pull NAME." }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: {
          input_tokens: 19,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 9,
        },
      }),
      "text/event-stream": named("MessageEvent", messageEventSchema, {
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text: "Say" },
      }),
    },
  },
  {
    ...common,
    id: "countMessageTokens",
    path: "/v1/messages/count_tokens",
    summary: "Count the tokens of what POST /v1/messages would read; max_tokens is not needed.",
    answers: {
      "application/json": named("TokenCount", tokenCountSchema, { input_tokens: 19 }),
    },
  },
];
