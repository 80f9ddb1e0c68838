// JSON Schemas of what llama-server's own routes answer, and the types that follow from them.
// Format: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md

import type { BodyOf } from "../../body/schema.ts";
import {
  anyOf,
  count,
  deviations,
  flag,
  list,
  logprobSchema,
  number,
  record,
  text,
} from "../openapi/answer_parts.ts";

/** Answer of GET /props. */
export const propsSchema = record({
  model_alias: { ...text, description: "Name of the model." },
  model_path: { ...text, description: "Its name again: paths of the machine are not told." },
  build_info: { ...text, description: "Name and version of this server." },
  default_generation_settings: {
    ...record({
      n_ctx: { ...count, description: "Tokens of the window that a request gets; 0: not known." },
    }),
    description: "What a request gets that says nothing else.",
  },
  modalities: {
    ...record({
      vision: { ...flag, description: "Whether the model reads images." },
      audio: { type: "boolean", description: "Whether the model hears." },
    }),
    description: "What it reads besides text.",
  },
  chat_template: { ...text, description: "Jinja; empty if its file has none." },
  is_loaded: { ...flag, description: "Quern's own: whether the model is in memory." },
}, {
  total_slots: { ...count, description: "Requests at the same time; missing until it is loaded." },
});

export type LlamaProps = BodyOf<typeof propsSchema>;

const slot = record({
  id: { ...count, description: "Its number." },
  n_ctx: { ...count, description: "Tokens of its window." },
  is_processing: { ...flag, description: "Whether a request is at work in it." },
});

/** Answer of GET /slots. */
export const slotsSchema = list(slot);

export type LlamaSlots = BodyOf<typeof slotsSchema>;

const piece = {
  anyOf: [text, list({ type: "integer", minimum: 0, maximum: 255 })],
  description: "Its text, or its bytes where they are no whole characters.",
} as const;

/** Answer of POST /tokenize. */
export const llamaTokensSchema = record({
  tokens: {
    ...anyOf(list(count), list(record({ id: { ...count, description: "Its number." }, piece }))),
    description: "The tokens.",
  },
});

export type LlamaTokens = BodyOf<typeof llamaTokensSchema>;

/** Answer of POST /detokenize. */
export const llamaTextSchema = record({ content: { ...text, description: "The text." } });

export type LlamaText = BodyOf<typeof llamaTextSchema>;

/** Answer of POST /apply-template. */
export const llamaPromptSchema = record({
  prompt: { ...text, description: "The conversation as the template lays it out." },
});

export type LlamaPrompt = BodyOf<typeof llamaPromptSchema>;

const timings = record({
  prompt_n: { ...count, description: "Tokens of the prompt that were read." },
  prompt_ms: { ...number, description: "How long that took." },
  predicted_n: { ...count, description: "Tokens of the answer." },
  predicted_ms: { ...number, description: "How long they took." },
  cache_n: { ...count, description: "Tokens of the prompt that were still there." },
});

/** An answer of POST /completion and /infill, or a piece of one; with `response_fields` a part of it. */
export const llamaCompletionAnswerSchema = record({}, {
  index: { const: 0 },
  content: { ...text, description: "The text, or the next piece of it." },
  stop: { ...flag, description: "Whether this is the end." },
  model: { ...text, description: "Name of the model." },
  tokens_predicted: { ...count, description: "Tokens of the answer." },
  tokens_evaluated: { ...count, description: "Tokens of the prompt." },
  tokens_cached: { ...count, description: "Those that were still there." },
  truncated: { const: false },
  stop_type: { enum: ["eos", "limit", "word"], description: "What ended the answer." },
  stopping_word: { ...text, description: "The stop string that came; empty: none." },
  timings: { ...timings, description: "Counts and milliseconds." },
  ...timings.properties,
  tokens: { ...list(count), description: "The ids of the tokens, where they are asked for." },
  completion_probabilities: {
    ...list(logprobSchema),
    description: "The tokens, and the likeliest in their places, where that is asked for.",
  },
  ...deviations,
});

export type LlamaCompletion = BodyOf<typeof llamaCompletionAnswerSchema>;

/** Answer of GET /lora-adapters. */
export const llamaAdaptersSchema = list(record({
  id: { ...count, description: "Its number." },
  path: { ...text, description: "Its name again: paths of the machine are not told." },
  name: { ...text, description: "Its name: that in its file, or of it." },
  scale: { ...number, description: "Its factor in requests that name no adapters." },
}));

export type LlamaAdapters = BodyOf<typeof llamaAdaptersSchema>;

/** Answer of POST /lora-adapters. */
export const llamaSuccessSchema = record({
  success: { const: true, description: "What was asked for is so." },
});

export type LlamaSuccess = BodyOf<typeof llamaSuccessSchema>;
