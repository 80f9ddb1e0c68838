// What the native API answers, as TypeScript types; what it is asked: schema.ts.

import type { WireLogprob } from "../logprobs.ts";

/** Counts and times of a final record; times in integer nanoseconds, zeros left out. */
export interface OllamaMetrics {
  total_duration?: number;
  load_duration?: number;
  prompt_eval_count?: number;
  prompt_eval_duration?: number;
  eval_count?: number;
  draft_n?: number;
  draft_accepted?: number;
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

/** What an answer that failed is, or the last line of a stream that did. */
export interface OllamaError {
  error: string;
}

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
