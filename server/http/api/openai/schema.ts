// JSON Schemas of the bodies of OpenAI's chat completions, completions and responses. They fix
// types, and the words of a few members; null is "not given" everywhere; the log names other members.

import {
  type BodyOf,
  flag,
  type Given,
  integer,
  keepAlive,
  number,
  type Refused,
  text,
} from "../../body/schema.ts";
import { openObjects, options, returnProgress } from "../options.ts";
import { callSchema, functionMembers, functionSchema } from "../tools.ts";

/** Members that all requests share. */
const common = {
  model: text,
  stream: flag,
  temperature: number,
  top_p: number,
  options,
  open_objects: openObjects,
  keep_alive: keepAlive,
} as const;

const request = { type: "object", properties: common } as const;

/** Members for OpenAI's books and caches, without a meaning here. */
const withoutEffect = {
  user: {},
  safety_identifier: { description: "Accepted and without effect." },
  service_tier: { description: "Accepted and without effect." },
  prompt_cache_key: {},
  prompt_cache_retention: {},
} as const;

/** Members of all requests. `options` and `keep_alive` are Ollama's. */
export type OpenAiBody = BodyOf<typeof request>;

/** Members of both kinds of completions. */
const sampling = {
  ...withoutEffect,
  metadata: { description: "Accepted and without effect." },
  store: { description: "Accepted and without effect: completions are not kept." },
  stream_options: { type: ["object", "null"], properties: { include_usage: flag } },
  max_tokens: integer,
  stop: { type: ["string", "array", "null"], items: { type: "string" } },
  seed: integer,
  presence_penalty: number,
  frequency_penalty: number,
  n: integer,
  logit_bias: { type: ["object", "null"] },
} as const;

const completion = { type: "object", properties: { ...common, ...sampling } } as const;

/** Members of both kinds of completions. */
export type SamplingBody = BodyOf<typeof completion>;

const part = {
  type: "object",
  required: ["type"],
  properties: {
    type: { type: "string" },
    text,
    refusal: text,
    image_url: {
      type: ["string", "object", "null"],
      description: "A data URL, by itself or as url.",
      properties: { url: text },
    },
  },
} as const;

/** A part of a message's content. */
export type ContentPart = BodyOf<typeof part>;

/** A text, or parts of one. */
const content = { type: ["string", "array", "null"], items: part } as const;

export type Content = Given<BodyOf<typeof content>>;

const toolCall = callSchema({ type: ["string", "object", "null"] });

const message = {
  type: "object",
  required: ["role"],
  properties: {
    role: { type: "string" },
    content,
    name: text,
    refusal: text,
    reasoning: text,
    reasoning_content: text,
    tool_calls: { type: ["array", "null"], items: toolCall },
    tool_call_id: text,
  },
} as const;

/** One turn of a conversation. */
export type WireMessage = BodyOf<typeof message>;

/** A tool of a chat. Its type may be left out. */
const tool = {
  type: "object",
  properties: { type: text, function: functionSchema },
} as const;

const formatType = { enum: ["text", "json_object", "json_schema"] } as const;

/** The form that an answer must have. */
export type FormatType = BodyOf<typeof formatType>;

const effort = { type: ["object", "null"], properties: { effort: text, summary: text } } as const;
const choice = { type: ["string", "object", "null"] } as const;

/** Body of POST /v1/chat/completions. */
export const openAiChatSchema = {
  type: "object",
  properties: {
    ...common,
    ...sampling,
    messages: { type: ["array", "null"], items: message },
    max_completion_tokens: integer,
    response_format: {
      type: ["object", "null"],
      required: ["type"],
      properties: { type: formatType, json_schema: { type: ["object", "null"] } },
    },
    tools: { type: ["array", "null"], items: tool },
    tool_choice: choice,
    parallel_tool_calls: flag,
    reasoning_effort: text,
    reasoning: effort,
    truncate: flag,
    return_progress: returnProgress,
    logprobs: flag,
    top_logprobs: integer,
    functions: { type: ["array", "null"] },
  },
} as const;

export type ChatBody =
  & BodyOf<typeof openAiChatSchema>
  & Refused<"audio" | "web_search_options">;

/** Body of POST /v1/completions. `prompt` is checked where it is read. */
export const openAiCompletionSchema = {
  type: "object",
  properties: {
    ...common,
    ...sampling,
    prompt: { description: "A text, an array of texts, token ids, or an array of those." },
    suffix: text,
    echo: flag,
    best_of: integer,
    logprobs: integer,
    raw: flag,
  },
} as const;

export type CompletionBody = BodyOf<typeof openAiCompletionSchema>;

/** An item of the input. Which members are read depends on its type. */
const inputItem = {
  type: "object",
  properties: {
    type: { ...text, description: 'Default "message"; "item_reference" of an id alone.' },
    id: text,
    role: text,
    content,
    summary: content,
    call_id: text,
    name: text,
    namespace: text,
    arguments: text,
    output: content,
  },
} as const;

export type InputItem = BodyOf<typeof inputItem>;

/** A tool: a function, or with `tools` a namespace of functions. */
const responseTool = {
  type: "object",
  required: ["type"],
  properties: { type: { type: "string" }, ...functionMembers, external_web_access: flag },
} as const;

/** A function, a namespace of some in `tools`, or a tool of another kind, which is refused. */
export type ResponseTool = BodyOf<typeof responseTool> & { tools?: Given<ResponseTool[]> };

/** Body of POST /v1/responses. */
export const openAiResponsesSchema = {
  type: "object",
  properties: {
    ...common,
    ...withoutEffect,
    input: { type: ["string", "array", "null"], items: inputItem },
    instructions: text,
    max_output_tokens: integer,
    tools: {
      type: ["array", "null"],
      items: {
        ...responseTool,
        properties: {
          ...responseTool.properties,
          tools: { type: ["array", "null"], items: responseTool },
        },
      },
    },
    tool_choice: choice,
    parallel_tool_calls: flag,
    reasoning: effort,
    text: {
      type: ["object", "null"],
      properties: {
        format: {
          type: ["object", "null"],
          required: ["type"],
          properties: { type: formatType, schema: { description: "A JSON Schema." } },
        },
      },
    },
    truncation: { enum: ["auto", "disabled", null] },
    top_logprobs: integer,
    metadata: { type: ["object", "null"] },
    previous_response_id: {
      ...text,
      description: "A kept response, whose conversation goes on; its instructions do not.",
    },
    store: { ...flag, description: "Whether the response is kept. Default true." },
    background: flag,
  },
} as const;

export type ResponsesBody =
  & BodyOf<typeof openAiResponsesSchema>
  & Refused<"conversation" | "prompt">;
