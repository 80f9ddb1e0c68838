// JSON Schemas of what the Messages API answers, streams included. Closed, as those of ollama.ts are.
// Requests: ../anthropic.ts.

import { record } from "../openapi/answer_parts.ts";

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const object = { type: "object" };
const nothing = { type: "null" };
const textOrNull = { type: ["string", "null"] };
const anyOf = (...schemas: object[]) => ({ anyOf: schemas });

const usage = record({
  input_tokens: { ...count, description: "Of the prompt, but for cached ones." },
  cache_creation_input_tokens: count,
  cache_read_input_tokens: { ...count, description: "Of the prompt, those that were still there." },
  output_tokens: { ...count, description: "So far." },
});

const block = anyOf(
  record({ type: { const: "text" }, text }),
  record({ type: { const: "thinking" }, thinking: text, signature: text }),
  record({ type: { const: "tool_use" }, id: text, name: text, input: object }),
);

const stop = {
  stop_reason: { enum: ["end_turn", "max_tokens", "tool_use", "stop_sequence"] },
  stop_sequence: { ...textOrNull, description: "The stop sequence that came, if one did." },
};

const head = {
  id: text,
  type: { const: "message" },
  role: { const: "assistant" },
  model: text,
  usage,
};

/** Answer of POST /v1/messages. */
export const messageSchema = record({ ...head, ...stop, content: { type: "array", items: block } });

/** Answer of POST /v1/messages/count_tokens. */
export const tokenCountSchema = record({ input_tokens: count });

/** An error, also within a stream. */
export const anthropicErrorSchema = record({
  type: { const: "error" },
  error: record({ type: text, message: text }, {
    details: { ...object, description: "What clients react to by program." },
  }),
  request_id: text,
});

const delta = anyOf(
  record({ type: { const: "text_delta" }, text }),
  record({ type: { const: "thinking_delta" }, thinking: text }),
  record({ type: { const: "signature_delta" }, signature: text }),
  record({ type: { const: "input_json_delta" }, partial_json: text }),
);

const beginning = record({
  ...head,
  stop_reason: nothing,
  stop_sequence: nothing,
  content: { type: "array", maxItems: 0 },
});

/** An event of its stream. */
export const messageEventSchema = anyOf(
  record({ type: { const: "message_start" }, message: beginning }),
  record({ type: { const: "ping" } }),
  record({ type: { const: "content_block_start" }, index: count, content_block: block }),
  record({ type: { const: "content_block_delta" }, index: count, delta }),
  record({ type: { const: "content_block_stop" }, index: count }),
  record({ type: { const: "message_delta" }, delta: record(stop), usage }),
  record({ type: { const: "message_stop" } }),
  anthropicErrorSchema,
);
