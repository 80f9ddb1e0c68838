// JSON Schemas of the bodies of OpenAI's chat completions, completions and responses. As in ollama.ts
// they fix types, here also words; null is "not given" everywhere; other members are ignored.

import { openObjects, options } from "../options.ts";

const text = { type: ["string", "null"] };
const flag = { type: ["boolean", "null"] };
const number = { type: ["number", "null"] };
const integer = { type: ["integer", "null"] };

/** Members that all requests share. */
const common = {
  model: text,
  stream: flag,
  temperature: number,
  top_p: number,
  options,
  open_objects: openObjects,
  keep_alive: { type: ["string", "number", "null"] },
};

/** Members of both kinds of completions. */
const sampling = {
  stream_options: { type: ["object", "null"], properties: { include_usage: flag } },
  max_tokens: integer,
  stop: { type: ["string", "array", "null"], items: { type: "string" } },
  seed: integer,
  presence_penalty: number,
  frequency_penalty: number,
  n: integer,
  logit_bias: { type: ["object", "null"] },
};

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
};

/** A text, or parts of one. */
const content = { type: ["string", "array", "null"], items: part };

const toolCall = {
  type: "object",
  required: ["function"],
  properties: {
    id: text,
    function: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, arguments: { type: ["string", "object", "null"] } },
    },
  },
};

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
};

const functionMembers = {
  name: { type: "string" },
  description: text,
  parameters: { type: ["object", "null"] },
  strict: flag,
};

/** A tool of a chat. That it is a function goes without saying. */
const tool = {
  type: "object",
  properties: {
    type: text,
    function: { type: "object", required: ["name"], properties: functionMembers },
  },
};

const formatType = { enum: ["text", "json_object", "json_schema"] };
const effort = { type: ["object", "null"], properties: { effort: text, summary: text } };
const choice = { type: ["string", "object", "null"] };

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
    logprobs: flag,
    top_logprobs: integer,
    functions: { type: ["array", "null"] },
  },
};

/** Body of POST /v1/completions. `prompt` has messages of its own. */
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
};

/** Something said or done earlier. Which members count is a matter of its type. */
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
};

/** A tool: a function, or with `tools` a namespace of functions. */
const responseTool = {
  type: "object",
  required: ["type"],
  properties: { type: { type: "string" }, ...functionMembers, external_web_access: flag },
};

/** Body of POST /v1/responses. */
export const openAiResponsesSchema = {
  type: "object",
  properties: {
    ...common,
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
          properties: { type: formatType },
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
};
