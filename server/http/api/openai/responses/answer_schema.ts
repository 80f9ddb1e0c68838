// JSON Schemas of what POST /v1/responses answers, its stream included, and what is told of
// responses that are kept, with the types that follow from them.
// Format: https://platform.openai.com/docs/api-reference/responses

import type { BodyOf } from "../../../body/schema.ts";
import {
  anyOf,
  count,
  deviations,
  empty,
  flag,
  list,
  logprobSchema,
  nothing,
  number,
  object,
  record,
  text,
  textOrNull,
} from "../../openapi/answer_parts.ts";

const status = { enum: ["in_progress", "completed", "incomplete"] } as const;

/** How far an item has come. */
export type ItemStatus = BodyOf<typeof status>;

const outputText = record({
  type: { const: "output_text" },
  text,
  annotations: empty,
  logprobs: list(logprobSchema),
});

/** The text of a message. */
export type OutputText = BodyOf<typeof outputText>;

const summaryText = record({ type: { const: "summary_text" }, text });

/** A text of thinking. */
export type SummaryText = BodyOf<typeof summaryText>;

const functionCall = record({
  type: { const: "function_call" },
  id: text,
  status,
  call_id: text,
  name: text,
  arguments: { ...text, description: "JSON text." },
}, { namespace: text });

const customCall = record({
  type: { const: "custom_tool_call" },
  id: text,
  status,
  call_id: text,
  name: text,
  input: { ...text, description: "What the tool is called with." },
}, { namespace: text });

const compaction = record({
  type: { const: "compaction" },
  id: text,
  encrypted_content: {
    ...text,
    description: "The summary that stands for what was answered before, in base64.",
  },
});

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
  customCall,
  compaction,
);

/** One thing of an answer. */
export type OutputItem = BodyOf<typeof outputItem>;

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
  strict: flag,
});

const responseCustom = record({
  type: { const: "custom" },
  name: text,
  description: textOrNull,
  format: {
    type: "object",
    required: ["type"],
    properties: { type: text },
    description: "What its input is: a text, or one with a grammar.",
  },
});

/** A custom tool as a response repeats it. */
export type ToldCustom = BodyOf<typeof responseCustom>;

const responseTool = anyOf(
  responseFunction,
  responseCustom,
  record({
    type: { const: "namespace" },
    name: text,
    description: textOrNull,
    tools: list(anyOf(responseFunction, responseCustom)),
  }),
  record({ type: { const: "web_search" }, external_web_access: { const: false } }),
);

/** A function as a response repeats it. */
export type ToldFunction = BodyOf<typeof responseFunction>;

/** A tool as a response repeats it. */
export type ToldTool = BodyOf<typeof responseTool>;

const responseStatus = {
  enum: ["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"],
} as const;

/** How far a response has come. */
export type ResponseStatus = BodyOf<typeof responseStatus>;

/** Answer of POST /v1/responses. */
export const responseSchema = record({
  id: text,
  object: { const: "response" },
  created_at: count,
  completed_at: anyOf(count, nothing),
  status: responseStatus,
  error: anyOf(record({ code: text, message: text }), nothing),
  incomplete_details: anyOf(record({ reason: text }), nothing),
  model: text,
  output: list(outputItem),
  usage: anyOf(responseUsage, nothing),
  instructions: textOrNull,
  max_output_tokens: { type: ["integer", "null"] },
  max_tool_calls: nothing,
  temperature: number,
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  top_logprobs: count,
  parallel_tool_calls: flag,
  tool_choice: { type: ["string", "object"] },
  tools: list(responseTool),
  text: record({ format: { type: "object", required: ["type"], properties: { type: text } } }),
  reasoning: record({ effort: textOrNull, summary: textOrNull }),
  truncation: { enum: ["auto", "disabled"] },
  metadata: object,
  previous_response_id: textOrNull,
  conversation: anyOf(record({ id: text }), nothing),
  background: { ...flag, description: "Whether its client did not have to wait for it." },
  store: { ...flag, description: "Whether it is kept for later requests." },
  service_tier: text,
  user: nothing,
  safety_identifier: nothing,
  prompt_cache_key: nothing,
}, deviations);

export type WholeResponse = BodyOf<typeof responseSchema>;

const keptPart = anyOf(
  record({ type: { enum: ["input_text", "summary_text", "reasoning_text"] }, text }),
  outputText,
  record({ type: { const: "refusal" }, refusal: text }),
  record({ type: { const: "input_image" }, image_url: text, detail: { const: "auto" } }),
  record({ type: { const: "input_audio" }, input_audio: record({ data: text, format: text }) }),
);

/** A part of a kept item's content. */
export type KeptPart = BodyOf<typeof keptPart>;

const keptMessage = record({
  type: { const: "message" },
  id: text,
  status,
  role: { enum: ["system", "developer", "user", "assistant"] },
  content: list(keptPart),
});

/** Answer of POST /v1/responses/compact. */
export const compactedSchema = record({
  id: text,
  object: { const: "response.compaction" },
  created_at: count,
  output: {
    type: "array",
    items: anyOf(keptMessage, compaction),
    description: "What the user said, and the summary of the rest: the input to go on with.",
  },
  usage: anyOf(responseUsage, nothing),
}, deviations);

export type Compacted = BodyOf<typeof compactedSchema>;

/** Answer of POST /v1/responses/input_tokens. */
export const inputTokensSchema = record({
  object: { const: "response.input_tokens" },
  input_tokens: { ...count, description: "Cached ones included." },
});

export type InputTokens = BodyOf<typeof inputTokensSchema>;

/** Answer of DELETE /v1/responses/{response_id}. */
export const deletedResponseSchema = record({
  id: text,
  object: { const: "response" },
  deleted: { const: true },
});

export type DeletedResponse = BodyOf<typeof deletedResponseSchema>;

export const keptItem = anyOf(
  keptMessage,
  record({ type: { const: "reasoning" }, id: text, summary: list(keptPart) }, {
    status,
    content: list(keptPart),
  }),
  functionCall,
  customCall,
  compaction,
  record({
    type: { enum: ["function_call_output", "custom_tool_call_output"] },
    id: text,
    status,
    call_id: text,
    output: anyOf(text, list(keptPart)),
  }),
);

/** An item as it is kept and listed: an input item whose members are all there, or an output item. */
export type KeptItem = BodyOf<typeof keptItem>;

/** Items of an input or of a conversation. */
export const inputItemsSchema = record({
  object: { const: "list" },
  data: list(keptItem),
  first_id: textOrNull,
  last_id: textOrNull,
  has_more: flag,
});

export type InputItems = BodyOf<typeof inputItemsSchema>;

/** A conversation, without what is said in it. */
export const conversationSchema = record({
  id: text,
  object: { const: "conversation" },
  created_at: count,
  metadata: object,
});

export type Conversation = BodyOf<typeof conversationSchema>;

/** Answer of DELETE /v1/conversations/{conversation_id}. */
export const deletedConversationSchema = record({
  id: text,
  object: { const: "conversation.deleted" },
  deleted: { const: true },
});

export type DeletedConversation = BodyOf<typeof deletedConversationSchema>;

function responseEvent<const Name extends string, const Members extends Record<string, object>>(
  names: readonly Name[],
  members: Members,
) {
  const type = { enum: names.map((name): `response.${Name}` => `response.${name}`) };
  return record({ type, sequence_number: count, ...members });
}

const inItem = { item_id: text, output_index: count } as const;
const inContent = { ...inItem, content_index: count } as const;
const inSummary = { ...inItem, summary_index: count } as const;

/** An event of its stream. */
export const responseEventSchema = anyOf(
  responseEvent(["created", "queued", "in_progress", "completed", "incomplete", "failed"], {
    response: responseSchema,
  }),
  responseEvent(["output_item.added", "output_item.done"], {
    output_index: count,
    item: outputItem,
  }),
  responseEvent(["content_part.added", "content_part.done"], { ...inContent, part: outputText }),
  responseEvent(["output_text.delta"], {
    ...inContent,
    delta: text,
    logprobs: list(logprobSchema),
  }),
  responseEvent(["output_text.done"], { ...inContent, text, logprobs: list(logprobSchema) }),
  responseEvent(["reasoning_summary_part.added", "reasoning_summary_part.done"], {
    ...inSummary,
    part: summaryText,
  }),
  responseEvent(["reasoning_summary_text.delta"], { ...inSummary, delta: text }),
  responseEvent(["reasoning_summary_text.done"], { ...inSummary, text }),
  responseEvent(["custom_tool_call_input.delta"], { ...inItem, delta: text }),
  responseEvent(["custom_tool_call_input.done"], {
    ...inItem,
    input: { ...text, description: "What the tool is called with." },
  }),
  responseEvent(["function_call_arguments.delta"], { ...inItem, delta: text }),
  responseEvent(["function_call_arguments.done"], { ...inItem, name: text, arguments: text }),
);

/** An event of a stream. */
export type ResponseEvent = BodyOf<typeof responseEventSchema>;

/** An event of a stream before it has its number. */
export type UnnumberedEvent = WithoutNumber<ResponseEvent>;

type WithoutNumber<Event> = Event extends unknown ? Omit<Event, "sequence_number"> : never;
