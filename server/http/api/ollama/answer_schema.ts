// JSON Schemas of what the native API answers to chats and generations, and the types that follow from
// them. Times are integer nanoseconds; counts and times that are zero are left out.

import type { BodyOf } from "../../body/schema.ts";
import {
  count,
  deviations,
  flag,
  list,
  maskedLogprobSchema,
  object,
  promptProgress,
  record,
  text,
  time,
} from "../openapi/answer_parts.ts";

/** A duration of the native API. */
export const nanosecondsSchema = {
  type: "integer",
  minimum: 0,
  description: "Nanoseconds.",
} as const;

const metrics = {
  total_duration: nanosecondsSchema,
  load_duration: nanosecondsSchema,
  prompt_eval_count: { ...count, description: "Tokens of the prompt, cached ones included." },
  prompt_cached_count: {
    ...count,
    description: "Those of them whose keys and values were still there. Ollama does not tell.",
  },
  prompt_eval_duration: nanosecondsSchema,
  eval_count: count,
  draft_n: { ...count, description: "Tokens that were drafted and checked several at a time." },
  draft_accepted: { ...count, description: "Those of them that came." },
  eval_duration: nanosecondsSchema,
} as const;

const metricsSchema = record({}, metrics);

/** Counts and times of a final record. */
export type OllamaMetrics = BodyOf<typeof metricsSchema>;

const toolCall = record({
  id: text,
  function: record({ index: count, name: text, arguments: object }),
});

/** A tool call in an answer. */
export type OllamaToolCall = BodyOf<typeof toolCall>;

const extras = { thinking: text, tool_calls: { ...list(toolCall), minItems: 1 } } as const;
const extrasSchema = record({}, extras);

/** Members that an answer may have besides text. */
export type OllamaExtras = BodyOf<typeof extrasSchema>;

const head = { model: text, created_at: time, done: flag } as const;

/** Members that any record may have around its text. */
const others = {
  logprobs: { ...list(maskedLogprobSchema), minItems: 1 },
  done_reason: { enum: ["stop", "length", "load", "unload"] },
  queued_ahead: {
    ...count,
    description: "How many requests come before this one, which waits for its turn.",
  },
  ...deviations,
  prompt_progress: promptProgress,
  _debug_info: record({ rendered_template: text }, { image_count: count }),
  ...metrics,
} as const;

/** A record of POST /api/chat: a line of its stream, or the whole answer. */
export const chatRecordSchema = record({
  ...head,
  message: record({ role: { const: "assistant" }, content: text }, extras),
}, others);

export type ChatRecord = BodyOf<typeof chatRecordSchema>;

/** A record of POST /api/generate. */
export const generateRecordSchema = record({ ...head, response: text }, {
  ...others,
  ...extras,
  context: {
    ...list(count),
    description: "Tokens of the prompt and the answer, to go on from.",
  },
});

export type GenerateRecord = BodyOf<typeof generateRecordSchema>;

/** One line of a stream, or the whole of an answer that is not streamed. */
export type OllamaRecord = ChatRecord | GenerateRecord;

/** The body of an error, and the last line of a stream that failed. */
export const errorSchema = record({ error: text });

export type OllamaError = BodyOf<typeof errorSchema>;
