// JSON Schema of a token's log-probability, which the native API and OpenAI's chats tell alike.

import { record } from "./record.ts";

const probability = {
  token: { type: "string" },
  logprob: { type: "number", description: "Natural logarithm." },
  bytes: { type: "array", items: { type: "integer", minimum: 0, maximum: 255 } },
};

/** A token of an answer, with the likeliest ones in its place. */
export const logprobSchema = record({
  ...probability,
  top_logprobs: { type: "array", items: record(probability), maxItems: 20 },
});
