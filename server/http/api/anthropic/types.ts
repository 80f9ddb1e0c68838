// What Anthropic's Messages API has on the wire, as far as it is read or written here.
// Format: https://docs.anthropic.com/en/api/messages. Members that are not named are let pass.

import type { OllamaOptions } from "../options.ts";

/** A piece of a message. Which members a type needs is checked where it is read. */
export interface AnthropicBlock {
  type: string;
  /** text */
  text?: string | null;
  /** thinking */
  thinking?: string | null;
  /** tool_use */
  id?: string | null;
  name?: string | null;
  input?: Record<string, unknown> | null;
  /** tool_result */
  tool_use_id?: string | null;
  is_error?: boolean | null;
  /** tool_result, search_result; of a document's source */
  content?: string | AnthropicBlock[] | null;
  /** image, document */
  source?: AnthropicSource | null;
}

/** Where an image or a document comes from. */
export interface AnthropicSource {
  type: string;
  data?: string | null;
  content?: string | AnthropicBlock[] | null;
}

export interface AnthropicMessage {
  role: string;
  content: string | AnthropicBlock[];
}

export interface AnthropicTool {
  /** Left out, or "custom"; any other type is a tool of Anthropic's own. */
  type?: string | null;
  name: string;
  description?: string | null;
  input_schema?: unknown;
  strict?: boolean | null;
}

export interface AnthropicToolChoice {
  type: "auto" | "any" | "tool" | "none";
  name?: string | null;
  disable_parallel_tool_use?: boolean | null;
}

/** Body of POST /v1/messages and /v1/messages/count_tokens. */
export interface AnthropicRequest {
  model?: string | null;
  max_tokens?: number | null;
  messages?: AnthropicMessage[] | null;
  system?: string | AnthropicBlock[] | null;
  stream?: boolean | null;
  temperature?: number | null;
  top_p?: number | null;
  top_k?: number | null;
  stop_sequences?: string[] | null;
  tools?: AnthropicTool[] | null;
  tool_choice?: AnthropicToolChoice | null;
  thinking?: { type: "enabled" | "disabled" | "adaptive" } | null;
  output_config?: {
    effort?: string | null;
    format?: { type: "json_schema"; schema: unknown } | null;
  } | null;
  /** Asks the server to keep the conversation, or to go on with a kept one. */
  thread?: unknown;
  /** Servers whose tools Anthropic's servers would call. */
  mcp_servers?: unknown;
  /** Where Anthropic's servers would run code. */
  container?: unknown;
  /** Ours: options of the native API, for what this one cannot say. */
  options?: OllamaOptions | null;
  /** Ours: the same as the option. */
  open_objects?: boolean | null;
  /** Ours: how long the model stays. */
  keep_alive?: string | number | null;
}

/** Tokens of the prompt are in exactly one of the first three counts. */
export interface AnthropicUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
}

/** A piece of an answer. */
export type AnswerBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> };

export type StopReason = "end_turn" | "max_tokens" | "tool_use" | "stop_sequence";

/** Why an answer ended. */
export interface AnthropicStop {
  stop_reason: StopReason | null;
  stop_sequence: string | null;
}

/** An answer. */
export interface AnthropicAnswer extends AnthropicStop {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: AnswerBlock[];
  usage: AnthropicUsage;
}

/** What a content_block_delta adds. */
export type BlockDelta =
  | { type: "text_delta"; text: string }
  | { type: "thinking_delta"; thinking: string }
  | { type: "signature_delta"; signature: string }
  | { type: "input_json_delta"; partial_json: string };

/** What a stream is made of. */
export type AnthropicEvent =
  | { type: "message_start"; message: AnthropicAnswer }
  | { type: "ping" }
  | { type: "content_block_start"; index: number; content_block: AnswerBlock }
  | { type: "content_block_delta"; index: number; delta: BlockDelta }
  | { type: "content_block_stop"; index: number }
  | { type: "message_delta"; delta: AnthropicStop; usage: AnthropicUsage }
  | { type: "message_stop" };
