// What Anthropic's Messages API has on the wire: names of things, and what it answers, as TypeScript
// types; what it is asked: schema.ts. Format: https://docs.anthropic.com/en/api/messages. Clients know
// tool calls by their prefix; behind it stands the engine's own name, so that templates which write a
// call's id see it as the model wrote it.

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

const PREFIX = "toolu_";

/** A name that nothing else has, such as "msg_" and 24 digits. */
export function newId(kind: "msg" | "req"): string {
  return `${kind}_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** The wire's name of a call of the engine. */
export function toWireId(id: string): string {
  return PREFIX + id;
}

/** The engine's name of a call. Names that others gave stay told apart. */
export function toEngineId(id: string): string {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
}
