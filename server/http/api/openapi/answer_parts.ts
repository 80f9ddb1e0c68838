// What schemas of answers are made of: objects whose members are all known, and a token's
// log-probability, which the native API and OpenAI's chats tell alike.

/** An object with these members and no others, all of them required but for the optional ones. */
export function record(members: Record<string, object>, optional: Record<string, object> = {}) {
  return {
    type: "object",
    required: Object.keys(members),
    properties: { ...members, ...optional },
    additionalProperties: false,
  };
}

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
