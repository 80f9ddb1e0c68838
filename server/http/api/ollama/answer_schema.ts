// JSON Schemas of what the native API answers. Closed: a member that is not listed here is a fault
// that the tests find, so that /openapi.json tells the whole truth. Requests: ../ollama.ts, ../embed.ts.

import { logprobSchema, record } from "../openapi/answer_parts.ts";

const text = { type: "string" };
const flag = { type: "boolean" };
const count = { type: "integer", minimum: 0 };
const time = { type: "string", format: "date-time" };
const nanoseconds = { type: "integer", minimum: 0, description: "Nanoseconds." };

const metrics = {
  total_duration: nanoseconds,
  load_duration: nanoseconds,
  prompt_eval_count: { ...count, description: "Tokens of the prompt, cached ones included." },
  prompt_eval_duration: nanoseconds,
  eval_count: count,
  draft_n: { ...count, description: "Tokens that were drafted and checked several at a time." },
  draft_accepted: { ...count, description: "Those of them that came." },
  eval_duration: nanoseconds,
};

const toolCall = record({
  id: text,
  function: record({ index: count, name: text, arguments: { type: "object" } }),
});

const extras = { thinking: text, tool_calls: { type: "array", items: toolCall, minItems: 1 } };

/** What a part of an answer and the final record share, around the text. */
function answerRecord(members: Record<string, object>, optional: Record<string, object> = {}) {
  return record({ model: text, created_at: time, ...members, done: flag }, {
    ...optional,
    logprobs: { type: "array", items: logprobSchema, minItems: 1 },
    done_reason: { enum: ["stop", "length", "load", "unload"] },
    queued_ahead: {
      ...count,
      description: "How many requests come before this one, which waits for its turn.",
    },
    dropped_messages: {
      ...count,
      description: "How many of the oldest messages did not fit the window.",
    },
    _debug_info: record({ rendered_template: text }, { image_count: count }),
    ...metrics,
  });
}

/** A record of POST /api/chat: a line of its stream, or the whole answer. */
export const chatRecordSchema = answerRecord({
  message: record({ role: { const: "assistant" }, content: text }, extras),
});

/** A record of POST /api/generate. */
export const generateRecordSchema = answerRecord({ response: text }, {
  ...extras,
  context: {
    type: "array",
    items: count,
    description: "Tokens of the prompt and the answer, to go on from.",
  },
});

/** Answer of POST /api/embed. */
export const embedAnswerSchema = record({
  model: text,
  embeddings: { type: "array", items: { type: "array", items: { type: "number" } } },
}, {
  total_duration: nanoseconds,
  load_duration: nanoseconds,
  prompt_eval_count: count,
});

/** Answer of POST /api/embeddings. */
export const legacyEmbedAnswerSchema = record({
  embedding: { type: "array", items: { type: "number" } },
});

/** Facts of a model. */
export const details = record({
  parent_model: text,
  format: text,
  family: text,
  families: { type: "array", items: text },
  parameter_size: text,
  quantization_level: text,
  context_length: count,
  embedding_length: count,
});

const model = { name: text, model: text, size: count, digest: text, details };

/** Answer of GET /api/tags. */
export const tagsSchema = record({
  models: {
    type: "array",
    items: record(
      { ...model, modified_at: time, capabilities: { type: "array", items: text } },
      { remote_model: text, remote_host: text },
    ),
  },
});

/** Answer of GET /api/ps. */
export const psSchema = record({
  models: {
    type: "array",
    items: record({ ...model, expires_at: time, size_vram: count, context_length: count }, {
      loading: {
        ...record({ completed: count, total: count }),
        description: "Bytes of the weights that are on the GPU, while it is being loaded.",
      },
    }),
  },
}, {
  busy_workers: {
    description: "Workers that do not answer; missing where all do.",
    type: "array",
    items: record({ model: text, since: time }),
  },
});

/** Answer of GET /api/version. */
export const versionSchema = record({
  version: { ...text, description: "The version of Ollama whose API this server has." },
  quern_version: text,
});

/** Answer of GET /api/status. */
export const statusSchema = record({ cloud: record({ disabled: flag, source: text }) });

/** Answer of GET /health. */
export const healthSchema = record(
  { status: { enum: ["ok", "shutting down"] }, version: text },
  { busy_workers: { ...count, description: "How many workers do not answer; missing for none." } },
);

/** The body of an error, and the last line of a stream that failed. */
export const errorSchema = record({ error: text });
