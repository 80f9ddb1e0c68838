// JSON Schemas of what the Messages API answers, streams included, and the types that follow from them.
// Format: https://docs.anthropic.com/en/api/messages

import type { BodyOf } from "../../body/schema.ts";
import {
  anyOf,
  count,
  deviations,
  empty,
  list,
  nothing,
  object,
  record,
  text,
  textOrNull,
} from "../openapi/answer_parts.ts";

/** Tokens of the prompt are in exactly one of the first three counts. */
const usage = record({
  input_tokens: { ...count, description: "Of the prompt, but for cached ones." },
  cache_creation_input_tokens: count,
  cache_read_input_tokens: { ...count, description: "Of the prompt, those that were still there." },
  output_tokens: { ...count, description: "So far." },
});

export type AnthropicUsage = BodyOf<typeof usage>;

const block = anyOf(
  record({ type: { const: "text" }, text }),
  record({ type: { const: "thinking" }, thinking: text, signature: text }),
  record({ type: { const: "tool_use" }, id: text, name: text, input: object }),
);

/** A piece of an answer. */
export type AnswerBlock = BodyOf<typeof block>;

const stop = record({
  stop_reason: { enum: ["end_turn", "max_tokens", "tool_use", "stop_sequence"] },
  stop_sequence: { ...textOrNull, description: "The stop sequence that came, if one did." },
});

/** The reason why an answer ended. */
export type AnthropicStop = BodyOf<typeof stop>;

const head = {
  id: text,
  type: { const: "message" },
  role: { const: "assistant" },
  model: text,
  usage,
} as const;

/** Answer of POST /v1/messages. */
export const messageSchema = record(
  { ...head, ...stop.properties, content: list(block) },
  deviations,
);

export type AnthropicAnswer = BodyOf<typeof messageSchema>;

/** Answer of POST /v1/messages/count_tokens. */
export const tokenCountSchema = record({ input_tokens: count });

export type TokenCount = BodyOf<typeof tokenCountSchema>;

const threadDetails = record({
  error_code: { const: "thread_unsupported_request" },
  unsupported: list(text),
});

/** By which clients know to send the whole conversation instead. */
export type ThreadDetails = BodyOf<typeof threadDetails>;

/** An error, also within a stream. */
export const anthropicErrorSchema = record({
  type: { const: "error" },
  error: record({ type: text, message: text }, {
    details: { ...threadDetails, description: "What clients react to by program." },
  }),
  request_id: text,
});

export type AnthropicError = BodyOf<typeof anthropicErrorSchema>;

const delta = anyOf(
  record({ type: { const: "text_delta" }, text }),
  record({ type: { const: "thinking_delta" }, thinking: text }),
  record({ type: { const: "signature_delta" }, signature: text }),
  record({ type: { const: "input_json_delta" }, partial_json: text }),
);

/** The addition of a content_block_delta. */
export type BlockDelta = BodyOf<typeof delta>;

const beginning = record({
  ...head,
  stop_reason: nothing,
  stop_sequence: nothing,
  content: empty,
});

/** An answer of which nothing has come. */
export type AnswerBeginning = BodyOf<typeof beginning>;

/** An event of its stream. */
export const messageEventSchema = anyOf(
  record({ type: { const: "message_start" }, message: beginning }),
  record({ type: { const: "ping" } }),
  record({ type: { const: "content_block_start" }, index: count, content_block: block }),
  record({ type: { const: "content_block_delta" }, index: count, delta }),
  record({ type: { const: "content_block_stop" }, index: count }),
  record({ type: { const: "message_delta" }, delta: stop, usage }, deviations),
  record({ type: { const: "message_stop" } }),
  anthropicErrorSchema,
);

export type AnthropicEvent = BodyOf<typeof messageEventSchema>;
