// JSON Schemas of what both paths of decisions answer, and the types that follow from them.

import type { BodyOf } from "../../body/schema.ts";
import { nanosecondsSchema } from "../ollama/answer_schema.ts";
import {
  anyOf,
  count,
  flag,
  list,
  number,
  record,
  text,
  textOrNull,
} from "../openapi/answer_parts.ts";

const probability = { ...number, minimum: 0, maximum: 1 } as const;
const mass = {
  ...probability,
  description: "How likely the model was to answer with any of the options at all.",
} as const;

/** The answers to each kind of question, with members of their own. */
function answers<const Own extends Record<string, object>>(own: Own) {
  const name = textOrNull;
  const value = anyOf(text, flag);
  return list(anyOf(
    record({ type: { const: "predicate" }, name, probability, ...own }),
    record({
      type: { const: "choice" },
      name,
      choice: value,
      confidence: probability,
      probabilities: list(record({ value, probability })),
      ...own,
    }),
    record({
      type: { const: "score" },
      name,
      score: { ...number, description: "The mean of the levels, of which the first is 0." },
      confidence: probability,
      probabilities: list(record({ label: text, value: count, probability })),
      ...own,
    }),
  ));
}

/** Answer of POST /v1/decisions. */
export const decisionSchema = record({
  answers: answers({}),
  model: text,
  usage: record({
    input_tokens: count,
    input_tokens_details: record({ cache_write_tokens: count, cached_tokens: count }),
    output_tokens: count,
    output_tokens_details: record({ reasoning_tokens: count }),
    total_tokens: count,
  }),
});

export type Decision = BodyOf<typeof decisionSchema>;

/** Answer of POST /api/decide. */
export const decideAnswerSchema = record({
  model: text,
  answers: answers({ mass }),
  total_duration: nanosecondsSchema,
  load_duration: nanosecondsSchema,
  prompt_eval_count: count,
});

export type DecideAnswer = BodyOf<typeof decideAnswerSchema>;

const certainty = {
  ...probability,
  description:
    "How far the likeliest option is above all of them alike: 0 for that, 1 for certainty.",
} as const;

const byName = { type: "object", additionalProperties: probability } as const;

const systemOneAnswer = anyOf(
  record({
    type: { const: "noul" },
    noul: { ...probability, description: "How likely it is so." },
  }),
  record({
    type: { const: "choice" },
    choice: text,
    confidence: certainty,
    probabilities: byName,
  }),
  record({
    type: { const: "score" },
    score: { ...number, description: "The mean of the levels, of which the first is 0." },
    confidence: certainty,
    legend: { type: "object", description: "The levels by their numbers." },
    probabilities: byName,
  }),
);

/** An answer of POST /v1/systemone. */
export type SystemOneAnswer = BodyOf<typeof systemOneAnswer>;

/** Answer of POST /v1/systemone. */
export const systemOneAnswerSchema = record({
  model: text,
  answers: {
    type: "object",
    additionalProperties: systemOneAnswer,
    description: "The answers by the names of their questions.",
  },
  usage: record({ input_tokens: count, output_tokens: count }),
});

export type SystemOneAnswers = BodyOf<typeof systemOneAnswerSchema>;
