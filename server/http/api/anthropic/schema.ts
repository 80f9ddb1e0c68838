// JSON Schemas of the bodies of the Messages API. They fix types, and the few values that are read
// from a list; what a block needs is checked where it is read. null is "not given" almost everywhere;
// the log names members without an entry here.

import {
  type BodyOf,
  flag,
  integer,
  keepAlive,
  number,
  type Refused,
  text,
  value,
} from "../../body/schema.ts";
import { openObjects, options } from "../options.ts";

/** Text or blocks, which may hold text or blocks in turn. */
const content = {
  type: ["string", "array", "null"],
  items: { $ref: "#/$defs/ContentBlock" },
} as const;

const block = {
  type: "object",
  required: ["type"],
  properties: {
    type: { type: "string" },
    text,
    thinking: text,
    id: text,
    name: text,
    input: { type: ["object", "null"] },
    tool_use_id: text,
    is_error: flag,
    content,
    source: {
      type: ["object", "null"],
      required: ["type"],
      properties: { type: { type: "string" }, media_type: text, data: text, content },
    },
  },
} as const;

const message = {
  type: "object",
  required: ["role", "content"],
  properties: {
    role: { type: "string" },
    content: { type: ["string", "array"], items: { $ref: "#/$defs/ContentBlock" } },
  },
} as const;

const tool = {
  type: "object",
  required: ["name"],
  properties: {
    type: text,
    name: { type: "string" },
    description: text,
    input_schema: { description: "A JSON Schema of an object." },
    strict: flag,
  },
} as const;

export type AnthropicTool = BodyOf<typeof tool>;

const toolChoice = {
  type: ["object", "null"],
  required: ["type"],
  properties: {
    type: { enum: ["auto", "any", "tool", "none"] },
    name: text,
    disable_parallel_tool_use: flag,
  },
} as const;

export type AnthropicToolChoice = NonNullable<BodyOf<typeof toolChoice>>;

const thinking = {
  type: ["object", "null"],
  required: ["type"],
  properties: {
    type: { enum: ["enabled", "disabled", "adaptive"] },
    budget_tokens: {
      ...value,
      description: "Most tokens of thinking, where the server enforces it (QUERN_THINKING_BUDGET).",
    },
  },
} as const;

const outputConfig = {
  type: ["object", "null"],
  properties: {
    effort: text,
    format: {
      type: ["object", "null"],
      required: ["type", "schema"],
      properties: { type: { enum: ["json_schema"] }, schema: { type: ["object", "boolean"] } },
    },
  },
} as const;

/** Body of POST /v1/messages, and of POST /v1/messages/count_tokens, which needs no limit. */
export const messagesSchema = {
  type: "object",
  properties: {
    model: text,
    max_tokens: integer,
    messages: { type: ["array", "null"], items: message },
    system: content,
    stream: flag,
    temperature: number,
    top_p: number,
    top_k: integer,
    stop_sequences: { type: ["array", "null"], items: { type: "string" } },
    tools: { type: ["array", "null"], items: tool },
    tool_choice: toolChoice,
    thinking,
    output_config: outputConfig,
    options,
    open_objects: openObjects,
    keep_alive: keepAlive,
    // For Anthropic's books, without a meaning here.
    metadata: { description: "Accepted and without effect." },
    service_tier: { description: "Accepted and without effect." },
  },
  $defs: { ContentBlock: block },
} as const;

/** The body, with what asks for things that only Anthropic's servers have. */
export type AnthropicRequest =
  & BodyOf<typeof messagesSchema>
  & Refused<"thread" | "mcp_servers" | "container">;

/** A piece of a message. Which members a type needs is checked where it is read. */
export type AnthropicBlock = BodyOf<typeof block, typeof messagesSchema.$defs>;

/** The source of an image or a document. */
export type AnthropicSource = NonNullable<AnthropicBlock["source"]>;

export type AnthropicMessage = BodyOf<typeof message, typeof messagesSchema.$defs>;
