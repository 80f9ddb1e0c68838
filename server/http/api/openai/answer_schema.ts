// JSON Schemas of what OpenAI's API answers, streams included. Closed, as those of ollama.ts are.
// Requests: ../openai.ts, ../embed.ts.

import { logprobSchema, record } from "../openapi/answer_parts.ts";

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const textOrNull = { type: ["string", "null"] };
const nothing = { type: "null" };
const list = (items: object) => ({ type: "array", items });
const anyOf = (...schemas: object[]) => ({ anyOf: schemas });

const dropped = {
  dropped_messages: {
    ...count,
    description: "How many of the oldest messages did not fit the window.",
  },
};

/** What an error is told by, also within a stream. */
export const openAiErrorSchema = record({
  error: record({ message: text, type: text, param: textOrNull, code: textOrNull }),
});

const usage = record({
  prompt_tokens: { ...count, description: "Cached ones included." },
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: record({ cached_tokens: count }),
}, {
  completion_tokens_details: record({
    accepted_prediction_tokens: { ...count, description: "Drafted tokens that came." },
    rejected_prediction_tokens: { ...count, description: "Drafted tokens that did not." },
  }),
});

const head = { id: text, created: count, model: text, system_fingerprint: text };

const toolCall = record({
  index: count,
  id: text,
  type: { const: "function" },
  function: record({ name: text, arguments: { ...text, description: "JSON text." } }),
});

const logprobs = record({ content: list(logprobSchema), refusal: nothing });

const chatFinish = { enum: ["stop", "length", "tool_calls"] };

/** Answer of POST /v1/chat/completions. */
export const chatCompletionSchema = record({
  ...head,
  object: { const: "chat.completion" },
  choices: list(record({
    index: count,
    message: record({
      role: { const: "assistant" },
      content: textOrNull,
      refusal: nothing,
    }, { reasoning: text, tool_calls: list(toolCall) }),
    logprobs: anyOf(logprobs, nothing),
    finish_reason: chatFinish,
  })),
  usage,
}, dropped);

const callPiece = record({ index: count, function: record({ arguments: text }) });

const delta = record({}, {
  role: { const: "assistant" },
  content: text,
  reasoning: text,
  tool_calls: list(anyOf(toolCall, callPiece)),
});

/** An event of its stream. */
export const chatChunkSchema = anyOf(
  record({
    ...head,
    object: { const: "chat.completion.chunk" },
    choices: list(record({
      index: count,
      delta,
      finish_reason: anyOf(chatFinish, nothing),
    }, { logprobs })),
  }, { usage: anyOf(usage, nothing), ...dropped }),
  openAiErrorSchema,
);

const completionFinish = { enum: ["stop", "length"] };

const completionLogprobs = record({
  tokens: list(text),
  token_logprobs: list({ type: "number" }),
  top_logprobs: list({ type: "object", additionalProperties: { type: "number" } }),
  text_offset: list(count),
});

function completion(finish: object) {
  const choice = record({
    text,
    index: count,
    logprobs: anyOf(completionLogprobs, nothing),
    finish_reason: finish,
  });
  return { ...head, object: { const: "text_completion" }, choices: list(choice) };
}

/** Answer of POST /v1/completions. */
export const completionSchema = record({ ...completion(completionFinish), usage });

/** An event of its stream. */
export const completionChunkSchema = anyOf(
  record(completion(anyOf(completionFinish, nothing)), { usage: anyOf(usage, nothing) }),
  openAiErrorSchema,
);

const status = { enum: ["in_progress", "completed", "incomplete"] };
const outputText = record({
  type: { const: "output_text" },
  text,
  annotations: list({}),
  logprobs: list({}),
});
const summaryText = record({ type: { const: "summary_text" }, text });

const functionCall = record({
  type: { const: "function_call" },
  id: text,
  status,
  call_id: text,
  name: text,
  arguments: { ...text, description: "JSON text." },
}, { namespace: text });

const outputItem = anyOf(
  record({
    type: { const: "message" },
    id: text,
    status,
    role: { const: "assistant" },
    content: list(outputText),
  }),
  record({ type: { const: "reasoning" }, id: text, status, summary: list(summaryText) }),
  functionCall,
);

const responseUsage = record({
  input_tokens: { ...count, description: "Cached ones included." },
  input_tokens_details: record({ cached_tokens: count }),
  output_tokens: count,
  output_tokens_details: record({ reasoning_tokens: count }),
  total_tokens: count,
});

const responseFunction = record({
  type: { const: "function" },
  name: text,
  description: textOrNull,
  parameters: { type: ["object", "null"] },
  strict: { type: "boolean" },
});

/** Answer of POST /v1/responses. */
export const responseSchema = record({
  id: text,
  object: { const: "response" },
  created_at: count,
  completed_at: anyOf(count, nothing),
  status: { enum: ["in_progress", "completed", "incomplete", "failed"] },
  error: anyOf(record({ code: text, message: text }), nothing),
  incomplete_details: anyOf(record({ reason: text }), nothing),
  model: text,
  output: list(outputItem),
  usage: anyOf(responseUsage, nothing),
  instructions: textOrNull,
  max_output_tokens: { type: ["integer", "null"] },
  max_tool_calls: nothing,
  temperature: { type: "number" },
  top_p: { type: "number" },
  presence_penalty: { type: "number" },
  frequency_penalty: { type: "number" },
  top_logprobs: count,
  parallel_tool_calls: { type: "boolean" },
  tool_choice: { type: ["string", "object"] },
  tools: list(anyOf(
    responseFunction,
    record({
      type: { const: "namespace" },
      name: text,
      description: textOrNull,
      tools: list(responseFunction),
    }),
    record({ type: { const: "web_search" }, external_web_access: { const: false } }),
  )),
  text: record({ format: { type: "object", required: ["type"], properties: { type: text } } }),
  reasoning: record({ effort: textOrNull, summary: textOrNull }),
  truncation: { enum: ["auto", "disabled"] },
  metadata: { type: "object" },
  previous_response_id: textOrNull,
  background: { const: false },
  store: { type: "boolean", description: "Whether it is kept for later requests." },
  service_tier: text,
  user: nothing,
  safety_identifier: nothing,
  prompt_cache_key: nothing,
}, dropped);

/** Answer of DELETE /v1/responses/{response_id}. */
export const deletedResponseSchema = record({
  id: text,
  object: { const: "response" },
  deleted: { const: true },
});

const keptPart = anyOf(
  record({ type: { enum: ["input_text", "summary_text", "reasoning_text"] }, text }),
  outputText,
  record({ type: { const: "refusal" }, refusal: text }),
  record({ type: { const: "input_image" }, image_url: text, detail: { const: "auto" } }),
);

/** Answer of GET /v1/responses/{response_id}/input_items. */
export const inputItemsSchema = record({
  object: { const: "list" },
  data: list(anyOf(
    record({
      type: { const: "message" },
      id: text,
      status,
      role: { enum: ["system", "developer", "user", "assistant"] },
      content: list(keptPart),
    }),
    record({ type: { const: "reasoning" }, id: text, summary: list(keptPart) }, {
      status,
      content: list(keptPart),
    }),
    functionCall,
    record({
      type: { const: "function_call_output" },
      id: text,
      status,
      call_id: text,
      output: anyOf(text, list(keptPart)),
    }),
  )),
  first_id: textOrNull,
  last_id: textOrNull,
  has_more: { type: "boolean" },
});

function responseEvent(types: string[], members: Record<string, object>) {
  const type = { enum: types.map((name) => `response.${name}`) };
  return record({ type, sequence_number: count, ...members });
}

const ends = ["completed", "incomplete", "failed"];
const inItem = { item_id: text, output_index: count };
const inContent = { ...inItem, content_index: count };
const inSummary = { ...inItem, summary_index: count };
const summary = (name: string) => [`reasoning_summary_${name}`];

/** An event of its stream. */
export const responseEventSchema = anyOf(
  responseEvent(["created", "in_progress", ...ends], { response: responseSchema }),
  responseEvent(["output_item.added", "output_item.done"], {
    output_index: count,
    item: outputItem,
  }),
  responseEvent(["content_part.added", "content_part.done"], { ...inContent, part: outputText }),
  responseEvent(["output_text.delta"], { ...inContent, delta: text, logprobs: list({}) }),
  responseEvent(["output_text.done"], { ...inContent, text, logprobs: list({}) }),
  responseEvent([...summary("part.added"), ...summary("part.done")], {
    ...inSummary,
    part: summaryText,
  }),
  responseEvent(summary("text.delta"), { ...inSummary, delta: text }),
  responseEvent(summary("text.done"), { ...inSummary, text }),
  responseEvent(["function_call_arguments.delta"], { ...inItem, delta: text }),
  responseEvent(["function_call_arguments.done"], { ...inItem, name: text, arguments: text }),
);

/** Answer of POST /v1/embeddings. */
export const openAiEmbeddingsSchema = record({
  object: { const: "list" },
  data: list(record({
    object: { const: "embedding" },
    embedding: anyOf(list({ type: "number" }), text),
    index: count,
  })),
  model: text,
  usage: record({ prompt_tokens: count, total_tokens: count }),
});

const openAiModel = record({
  id: text,
  object: { const: "model" },
  created: count,
  owned_by: text,
});

const anthropicModel = record({
  type: { const: "model" },
  id: text,
  display_name: text,
  created_at: { type: "string", format: "date-time" },
});

/** Answer of GET /v1/models/{model}; the second to clients that send anthropic-version. */
export const vendorModelSchema = anyOf(openAiModel, anthropicModel);

/** Answer of GET /v1/models. */
export const vendorModelsSchema = anyOf(
  record({ object: { const: "list" }, data: list(openAiModel) }),
  record({
    data: list(anthropicModel),
    has_more: { const: false },
    first_id: textOrNull,
    last_id: textOrNull,
  }),
);

/** An error of those two paths. */
export const vendorErrorSchema = anyOf(
  openAiErrorSchema,
  record({
    type: { const: "error" },
    error: record({ type: text, message: text }),
    request_id: text,
  }),
);
