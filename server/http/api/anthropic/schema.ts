// JSON Schemas of the bodies of the Messages API. They fix types, and the few values that are read
// from a list; what a block needs is checked where it is read. null is "not given" almost everywhere.

import {
  type BodyOf,
  closed,
  flag,
  harmless,
  list,
  only,
  optional,
  type Refused,
  text,
} from "../../body/schema.ts";
import { unreadInTools, unreadInTurns } from "../unread_members.ts";
import { wishes } from "../wishes.ts";

/** Text or blocks, which may hold text or blocks in turn. */
const content = {
  type: ["string", "array", "null"],
  items: { $ref: "#/$defs/ContentBlock" },
} as const;

const ofServers = harmless("blocks that Anthropic's own servers make are left out");

/** Members of the results of tools that run on Anthropic's servers. */
const unreadInResults = {
  server_name: ofServers,
  mcp_server_name: ofServers,
  tools: ofServers,
  tool_references: ofServers,
  encrypted_stdout: ofServers,
  stdout: ofServers,
  stderr: ofServers,
  return_code: ofServers,
  retrieved_at: ofServers,
  page_age: ofServers,
  error_code: ofServers,
  error_message: ofServers,
  tool_changes: ofServers,
  from: ofServers,
  to: ofServers,
  trigger: ofServers,
} as const;

/** The source of an image or a document; that of a search result is a text. */
const source = {
  ...closed({
    type: { type: "string" },
    media_type: text,
    data: text,
    url: text,
    file_id: text,
    content,
  }, "type"),
  type: ["object", "string", "null"],
} as const;

const block = closed({
  ...unreadInTurns,
  ...unreadInResults,
  type: { type: "string" },
  text,
  thinking: text,
  id: text,
  name: text,
  input: { type: ["object", "null"] },
  tool_use_id: text,
  tool_name: text,
  toolset_name: harmless("calls are told apart by their names"),
  is_error: flag,
  content,
  data: harmless("thinking that is hidden cannot be shown to a model"),
  url: text,
  file_id: text,
  title: text,
  context: text,
  source,
  citations: {
    type: ["object", "array", "null"],
    description: "Those of an answer are without effect, and { enabled: true } gets a warning.",
  },
}, "type");

const message = closed(
  {
    ...unreadInTurns,
    role: { type: "string" },
    content: { type: ["string", "array"], items: { $ref: "#/$defs/ContentBlock" } },
  },
  "role",
  "content",
);

const tool = closed({
  ...unreadInTools,
  type: text,
  name: { type: "string" },
  description: text,
  input_schema: { description: "A JSON Schema of an object." },
  strict: flag,
}, "name");

export type AnthropicTool = BodyOf<typeof tool>;

const toolChoice = optional(
  closed({
    type: { enum: ["auto", "any", "tool", "none"] },
    name: text,
    disable_parallel_tool_use: flag,
  }, "type"),
);

export type AnthropicToolChoice = NonNullable<BodyOf<typeof toolChoice>>;

const outputFormat = optional(
  closed(
    { type: { enum: ["json_schema"] }, schema: { type: ["object", "boolean"] } },
    "type",
    "schema",
  ),
);

const outputConfig = optional(closed({ effort: text, format: outputFormat }));

/** Edits of the conversation at the server. Which thinking a model sees, its template decides. */
const contextManagement = optional(
  closed({
    edits: list(
      closed({
        type: { enum: ["clear_thinking_20251015"] },
        keep: harmless("the model's template decides which thinking it sees"),
      }, "type"),
    ),
  }),
);

/** Body of POST /v1/messages, and of POST /v1/messages/count_tokens, which needs no limit. */
export const messagesSchema = {
  ...closed({
    ...wishes,
    model: text,
    messages: list(message),
    system: content,
    stream: flag,
    stop_sequences: list({ type: "string" }),
    tools: list(tool),
    tool_choice: toolChoice,
    output_config: outputConfig,
    output_format: outputFormat,
    metadata: {
      type: ["object", "null"],
      description: "Of user_id, the session that Claude Code writes there is read.",
    },
    betas: harmless("what is available is available without asking"),
    anthropic_beta: harmless("what is available is available without asking"),
    anthropic_version: harmless("there is one version"),
    context_management: contextManagement,
    diagnostics: harmless("prompts that begin like earlier ones are always found"),
    speed: only(["standard"], "models run as fast as they can"),
  }),
  $defs: { ContentBlock: block },
} as const;

/** The body, with what asks for things that only Anthropic's servers have. */
export type AnthropicRequest =
  & BodyOf<typeof messagesSchema>
  & Refused<"thread" | "mcp_servers" | "container">;

/** A piece of a message. Which members a type needs is checked where it is read. */
export type AnthropicBlock = BodyOf<typeof block, typeof messagesSchema.$defs>;

/** The source of an image or a document. */
export type AnthropicSource = Exclude<AnthropicBlock["source"], string | null | undefined>;

export type AnthropicMessage = BodyOf<typeof message, typeof messagesSchema.$defs>;
