// What schemas of answers are made of. Objects are closed: an answer with a member that its schema does
// not name is a fault, which the compiler finds where the answer is written and the tests where it is
// sent. So /openapi.json tells the whole truth.

/** The schemas of an object's members, by name. */
type Members = Record<string, object>;

/** The schema of an object with exactly these members. */
export interface RecordSchema<Required extends Members, Optional extends Members> {
  type: "object";
  required: (keyof Required)[];
  properties: Required & Optional;
  additionalProperties: false;
}

/**
 * An object with these members and no others, all of them required except for the optional ones.
 */
export function record<
  const Required extends Members,
  const Optional extends Members = Record<never, never>,
>(members: Required, optional = {} as Optional): RecordSchema<Required, Optional> {
  return {
    type: "object",
    required: Object.keys(members),
    properties: { ...members, ...optional },
    additionalProperties: false,
  };
}

/** An array of such items. */
export function list<const Items extends object>(items: Items) {
  return { type: "array", items } as const;
}

/** A value that fits one of these schemas. */
export function anyOf<const Schemas extends readonly object[]>(...schemas: Schemas) {
  return { anyOf: schemas } as const;
}

export const text = { type: "string" } as const;
export const flag = { type: "boolean" } as const;
export const number = { type: "number" } as const;
export const count = { type: "integer", minimum: 0 } as const;
export const nothing = { type: "null" } as const;
export const textOrNull = { type: ["string", "null"] } as const;
export const countOrNull = { type: ["integer", "null"], minimum: 0 } as const;
export const object = { type: "object" } as const;
export const time = { type: "string", format: "date-time" } as const;
/** An array that is always empty. */
export const empty = { type: "array", items: {}, maxItems: 0 } as const;

const probability = {
  token: text,
  logprob: { type: "number", description: "Natural logarithm." },
  bytes: {
    ...list({ type: "integer", minimum: 0, maximum: 255 }),
    description: "Of the token: tokens may begin and end within a character.",
  },
} as const;

/** A token of an answer, with the likeliest ones in its place, as Ollama and OpenAI's chats tell it. */
export const logprobSchema = record({
  ...probability,
  top_logprobs: { ...list(record(probability)), maxItems: 20 },
});

/** How much of the prompt is read, as llama-server tells it where `return_progress` asks for it. */
export const promptProgress = record({
  total: { ...count, description: "Tokens of the prompt." },
  cache: { ...count, description: "Those that were still there." },
  processed: { ...count, description: "Those that are read by now, those of `cache` included." },
  time_ms: { ...count, description: "Milliseconds since reading began." },
});

const probabilities = list(record(probability));

/** A token where the request asked what its format allows; only the native API tells it. */
export const maskedLogprobSchema = record(logprobSchema.properties, {
  mask: {
    ...record({
      allowed: { ...count, description: "How many tokens might have come." },
      vocabulary: { ...count, description: "How many tokens there are." },
      top_allowed: { ...probabilities, description: "The likeliest that might have come." },
      top_forbidden: { ...probabilities, description: "The likeliest that might not." },
    }, {
      forced: {
        ...text,
        description: "The text that had to come next; missing where there was a choice.",
      },
      pointers: {
        ...list(text),
        description:
          "JSON pointers to the parts of the schema that were about the value there, the " +
          "outermost first, as far as they are known.",
      },
      spans: {
        ...list(list(count)),
        description:
          "Where the parts of the pattern or grammar stand that might come next: start and " +
          "end in UTF-16 units.",
      },
    }),
    description: "What the format allowed in the place of the token, where mask_info asks for it.",
  },
});

/** What a prompt found in the cache. */
export const cacheReport = record({
  prompt_tokens: { ...count, description: "All tokens of the prompt." },
  common_tokens: {
    ...count,
    description: "Those at its beginning that one of the model's last texts had, too.",
  },
  cached_tokens: { ...count, description: "Those that were in the cache." },
  from_memory: { ...count, description: "Those of them that came back from the system's memory." },
  from_disk: { ...count, description: "Those of them that came back from disk." },
}, {
  lost: {
    ...record({
      tokens: { ...count, description: "Tokens behind the position that both texts have." },
      seconds: { ...number, description: "About how long it took to read them again." },
      token: { ...count, description: "Number of the first token that differs, from 0." },
      before: { ...text, description: "The text before it." },
      was: { ...text, description: "What the earlier text has there." },
      is: { ...text, description: "What this prompt has there." },
      advice: { ...text, description: "Why that is so, and what to do." },
    }, {
      message: { ...count, description: "Which of `messages` it lies in, counted from 0." },
    }),
    description:
      "Where the prompt parts from an earlier text that it repeats behind that position.",
  },
});

/** Members that tell how an answer came about, and how it differs from what was asked. No vendor has them. */
export const deviations = {
  cache_report: {
    ...cacheReport,
    description: "How much of the prompt was in the cache, where the request asks for it.",
  },
  dropped_messages: {
    ...count,
    description: "How many of the oldest messages did not fit the window.",
  },
  dropped_indexes: {
    ...list(count),
    description: "Which of `messages` did not fit the window, counted from 0. Those that the " +
      "Modelfile begins a conversation with are in `dropped_messages` alone.",
  },
  warnings: {
    ...list(text),
    description: "What was done in another way than it was asked for, a sentence each.",
  },
} as const;
