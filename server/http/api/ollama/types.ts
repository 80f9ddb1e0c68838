// The native API's bodies as TypeScript types: what clients send and what they get.
// The schemas in schemas/ollama.ts see to it that a request is what its type says.

import type { WireLogprob } from "../logprobs.ts";
import type { Given, OllamaOptions } from "../options.ts";

/** What chat and generate requests share. */
export interface OllamaRequest {
  model?: Given<string>;
  /** Default true. */
  stream?: Given<boolean>;
  options?: Given<OllamaOptions>;
  /** Duration such as "5m", or seconds. */
  keep_alive?: Given<string | number>;
  format?: unknown;
  /** Ours: the same as the option, beside the format that it is about. */
  open_objects?: Given<boolean>;
  think?: Given<boolean | string>;
  truncate?: Given<boolean>;
  shift?: Given<boolean>;
  logprobs?: Given<boolean>;
  top_logprobs?: Given<number>;
  _debug_render_only?: Given<boolean>;
}

/** One turn of a conversation. */
export interface OllamaMessage {
  role: string;
  content?: Given<string>;
  thinking?: Given<string>;
  /** Base64. */
  images?: Given<string[]>;
  tool_calls?: Given<
    { id?: Given<string>; function: { name: string; arguments?: Given<Record<string, unknown>> } }[]
  >;
  tool_name?: Given<string>;
  tool_call_id?: Given<string>;
}

/** A tool that the model may call; `parameters` is a JSON Schema. */
export interface OllamaTool {
  type?: Given<string>;
  function: {
    name: string;
    description?: Given<string>;
    parameters?: Given<Record<string, unknown>>;
    strict?: Given<boolean>;
  };
}

/** Body of POST /api/chat. */
export interface OllamaChatRequest extends OllamaRequest {
  messages?: Given<OllamaMessage[]>;
  tools?: Given<OllamaTool[]>;
}

/** Body of POST /api/generate. */
export interface OllamaGenerateRequest extends OllamaRequest {
  prompt?: Given<string>;
  suffix?: Given<string>;
  system?: Given<string>;
  template?: Given<string>;
  raw?: Given<boolean>;
  context?: Given<number[]>;
  images?: Given<string[]>;
}

/** Counts and times of a final record; times in integer nanoseconds, zeros left out. */
export interface OllamaMetrics {
  total_duration?: number;
  load_duration?: number;
  prompt_eval_count?: number;
  prompt_eval_duration?: number;
  eval_count?: number;
  eval_duration?: number;
}

/** A tool call in an answer. */
export interface OllamaToolCall {
  id: string;
  function: { index: number; name: string; arguments: Record<string, unknown> };
}

/** What an answer may have besides text. */
export interface OllamaExtras {
  thinking?: string;
  tool_calls?: OllamaToolCall[];
}

/** The part of a record that carries text: `message` of a chat, `response` of a generation. */
export type OllamaText =
  & { logprobs?: WireLogprob[] }
  & (
    | { message: { role: "assistant"; content: string } & OllamaExtras }
    | { response: string } & OllamaExtras
  );

/** One line of a stream, or the whole of an answer that is not streamed. */
export type OllamaRecord = OllamaText & OllamaMetrics & {
  model: string;
  created_at: string;
  done: boolean;
  done_reason?: "stop" | "length" | "load" | "unload";
  /** How many requests come before this one, which waits for its turn. Ours: Ollama does not say. */
  queued_ahead?: number;
  /** How many of the oldest messages did not fit the window. Ours: Ollama does not say. */
  dropped_messages?: number;
  /** Tokens of the prompt and the answer, to go on from. */
  context?: number[];
  _debug_info?: { rendered_template: string; image_count?: number };
};

/** Facts of a model in /api/tags and /api/ps. */
export interface OllamaDetails {
  parent_model: string;
  format: "gguf";
  family: string;
  families: string[];
  /** Number of weights, such as "999.89M". */
  parameter_size: string;
  quantization_level: string;
  context_length: number;
  embedding_length: number;
}

/** A model in /api/tags. */
export interface OllamaTag {
  name: string;
  model: string;
  modified_at: string;
  size: number;
  digest: string;
  details: OllamaDetails;
  capabilities: string[];
  /** Of a model on another server: its name there. */
  remote_model?: string;
  /** That server's address. */
  remote_host?: string;
}

/** A model in /api/ps. */
export interface OllamaProcess {
  name: string;
  model: string;
  size: number;
  digest: string;
  details: OllamaDetails;
  expires_at: string;
  size_vram: number;
  context_length: number;
  /** Bytes of the weights that are on the GPU, while it is being loaded. Ours: Ollama does not say. */
  loading?: { completed: number; total: number };
}
