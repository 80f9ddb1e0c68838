// JSON Schemas of the native request bodies. They fix types only; what values mean is checked where
// they are used. null is "not given" everywhere; the log names members without an entry.

import { type BodyOf, flag, integer, keepAlive, text, texts } from "../../body/schema.ts";
import { openObjects, options, returnProgress } from "../options.ts";
import { callSchema, functionSchema } from "../tools.ts";

const images = { ...texts, description: "PNG, JPEG, WebP, GIF or BMP files as base64." } as const;

/** Members that chat and generate share. `think` and `format` are checked where they are read. */
const common = {
  model: text,
  stream: flag,
  format: { description: '"json", or a JSON Schema.' },
  pattern: {
    ...text,
    description:
      "In place of format: an ECMA-262 regular expression that the whole answer matches.",
  },
  grammar: { ...text, description: "In place of format: a grammar in GBNF that the answer fits." },
  open_objects: openObjects,
  think: { description: 'true, false, "low", "medium", "high" or "max".' },
  options,
  keep_alive: keepAlive,
  truncate: flag,
  shift: flag,
  logprobs: flag,
  top_logprobs: integer,
  return_progress: returnProgress,
  mask_info: {
    ...flag,
    description: "Tell in logprobs what the format allowed in the place of each token: how many " +
      "tokens, the likeliest allowed and forbidden ones, and text that had to come.",
  },
  _debug_render_only: flag,
} as const;

const request = { type: "object", properties: common } as const;

/** Members of chat and generate requests. */
export type OllamaRequest = BodyOf<typeof request>;

const toolCall = callSchema({ type: ["object", "null"] });

const message = {
  type: "object",
  required: ["role"],
  properties: {
    role: { type: "string" },
    content: text,
    thinking: text,
    images,
    tool_calls: { type: ["array", "null"], items: toolCall },
    tool_name: text,
    tool_call_id: text,
  },
} as const;

/** One turn of a conversation. */
export type OllamaMessage = BodyOf<typeof message>;

const tool = {
  type: "object",
  required: ["function"],
  properties: { type: text, function: functionSchema },
} as const;

/** Body of POST /api/chat. */
export const chatSchema = {
  type: "object",
  properties: {
    ...common,
    messages: { type: ["array", "null"], items: message },
    tools: { type: ["array", "null"], items: tool },
  },
} as const;

export type OllamaChatRequest = BodyOf<typeof chatSchema>;

/** Body of POST /api/generate. */
export const generateSchema = {
  type: "object",
  properties: {
    ...common,
    prompt: text,
    suffix: text,
    system: text,
    template: text,
    raw: flag,
    context: { type: ["array", "null"], items: { type: "integer" } },
    images,
  },
} as const;

export type OllamaGenerateRequest = BodyOf<typeof generateSchema>;
