// JSON Schemas of what the three embedding endpoints answer, and the types that follow from them.

import type { BodyOf } from "../../body/schema.ts";
import { nanosecondsSchema } from "../ollama/answer_schema.ts";
import { anyOf, count, list, number, record, text } from "../openapi/answer_parts.ts";

/** Answer of POST /api/embed. */
export const embedAnswerSchema = record({ model: text, embeddings: list(list(number)) }, {
  total_duration: nanosecondsSchema,
  load_duration: nanosecondsSchema,
  prompt_eval_count: count,
});

export type EmbedAnswer = BodyOf<typeof embedAnswerSchema>;

/** Answer of POST /api/embeddings. */
export const legacyEmbedAnswerSchema = record({ embedding: list(number) });

export type LegacyEmbedAnswer = BodyOf<typeof legacyEmbedAnswerSchema>;

/** Answer of POST /embed. */
export const teiEmbedAnswerSchema = list(list(number));

export type TeiEmbedAnswer = BodyOf<typeof teiEmbedAnswerSchema>;

/** Answer of POST /v1/embeddings. */
export const openAiEmbedAnswerSchema = record({
  object: { const: "list" },
  data: list(record({
    object: { const: "embedding" },
    embedding: {
      ...anyOf(list(number), text),
      description: "Numbers, or their f32 bytes, little-endian, in base64.",
    },
    index: count,
  })),
  model: text,
  usage: record({ prompt_tokens: count, total_tokens: count }),
});

export type OpenAiEmbedAnswer = BodyOf<typeof openAiEmbedAnswerSchema>;
