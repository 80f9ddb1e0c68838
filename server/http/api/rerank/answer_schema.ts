// JSON Schemas of what the rerank and score paths answer, and the types that follow from them. Cohere,
// Jina, vLLM and llama-server read the same results, and each its own counts, so an answer has all.

import type { BodyOf } from "../../body/schema.ts";
import { nanosecondsSchema } from "../ollama/answer_schema.ts";
import { anyOf, count, list, number, record, text } from "../openapi/answer_parts.ts";

const results = {
  ...list(record({ index: count, relevance_score: number }, {
    document: record({ text }),
  })),
  description: "The most relevant first.",
} as const;

const usage = record({ prompt_tokens: count, total_tokens: count });

/** Answer of the rerank paths. */
export const rerankAnswerSchema = record({
  id: text,
  object: { const: "list" },
  model: text,
  results,
  usage,
  meta: record({
    api_version: record({ version: text }),
    billed_units: record({ search_units: count }),
    tokens: record({ input_tokens: count, output_tokens: count }),
  }),
});

/** The answer to a request in Voyage's words. */
export const voyageAnswerSchema = record({
  object: { const: "list" },
  model: text,
  data: {
    ...list(record({ index: count, relevance_score: number }, { document: text })),
    description: "The most relevant first.",
  },
  usage,
});

/** The answer to a request in the words of Text Embeddings Inference. */
export const teiAnswerSchema = list(record({ index: count, score: number }, { text }));

/** Answer of every rerank path but the native one. */
export const anyRerankAnswerSchema = anyOf(
  rerankAnswerSchema,
  voyageAnswerSchema,
  teiAnswerSchema,
);

export type AnyRerankAnswer = BodyOf<typeof anyRerankAnswerSchema>;

/** Answer of POST /api/rerank. */
export const nativeRerankAnswerSchema = record({
  model: text,
  results,
  total_duration: nanosecondsSchema,
  load_duration: nanosecondsSchema,
  prompt_eval_count: count,
});

export type NativeRerankAnswer = BodyOf<typeof nativeRerankAnswerSchema>;

/** Answer of POST /v1/score. */
export const scoreAnswerSchema = record({
  id: text,
  object: { const: "list" },
  created: count,
  model: text,
  data: list(record({ index: count, object: { const: "score" }, score: number })),
  usage,
});

export type ScoreAnswer = BodyOf<typeof scoreAnswerSchema>;
