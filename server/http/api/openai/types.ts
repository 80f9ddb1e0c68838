// The bodies of POST /v1/chat/completions and /v1/completions as TypeScript types. The schemas in
// schemas/openai.ts see to it that a request is what its type says; members that are not listed here
// have no effect. Format: https://platform.openai.com/docs/api-reference

import type { Given, OllamaOptions } from "../options.ts";

/** What all requests share. `options` and `keep_alive` are Ollama's. */
export interface OpenAiBody {
  model?: Given<string>;
  /** Default false. */
  stream?: Given<boolean>;
  /** Default 1. */
  temperature?: Given<number>;
  /** Default 1. */
  top_p?: Given<number>;
  /** Further options of Ollama; members of the request itself come first. */
  options?: Given<OllamaOptions>;
  /** Ours: the same as the option. */
  open_objects?: Given<boolean>;
  /** Duration such as "5m", or seconds. */
  keep_alive?: Given<string | number>;
}

/** What both kinds of completions share. */
export interface SamplingBody extends OpenAiBody {
  stream_options?: Given<{ include_usage?: Given<boolean> }>;
  max_tokens?: Given<number>;
  stop?: Given<string | string[]>;
  seed?: Given<number>;
  presence_penalty?: Given<number>;
  frequency_penalty?: Given<number>;
  /** 1 is the only count. */
  n?: Given<number>;
  logit_bias?: Given<Record<string, unknown>>;
}

/** A part of a message's content. */
export interface ContentPart {
  type: string;
  text?: Given<string>;
  refusal?: Given<string>;
  image_url?: Given<string | { url?: Given<string> }>;
}

/** A text, or parts of one. */
export type Content = Given<string | ContentPart[]>;

/** A call in a message of an assistant; the arguments are JSON text. */
export interface WireToolCall {
  id?: Given<string>;
  function: { name: string; arguments?: Given<string | Record<string, unknown>> };
}

/** One turn of a conversation. */
export interface WireMessage {
  role: string;
  content?: Content;
  name?: Given<string>;
  refusal?: Given<string>;
  reasoning?: Given<string>;
  /** Another name of `reasoning`. */
  reasoning_content?: Given<string>;
  tool_calls?: Given<WireToolCall[]>;
  tool_call_id?: Given<string>;
}

/** A tool that the model may call. */
export interface WireFunction {
  name: string;
  description?: Given<string>;
  /** A JSON Schema. */
  parameters?: Given<Record<string, unknown>>;
  strict?: Given<boolean>;
}

/** What an answer must be. */
export interface ResponseFormat {
  type: "text" | "json_object" | "json_schema";
  json_schema?: Given<{ schema?: unknown }>;
}

/** Body of POST /v1/chat/completions. */
export interface ChatBody extends SamplingBody {
  messages?: Given<WireMessage[]>;
  /** Wins over max_tokens. */
  max_completion_tokens?: Given<number>;
  response_format?: Given<ResponseFormat>;
  tools?: Given<{ type?: Given<string>; function?: WireFunction }[]>;
  /** "auto", "none", "required", a tool's name as an object, or the tools that are allowed. */
  tool_choice?: unknown;
  parallel_tool_calls?: Given<boolean>;
  reasoning_effort?: Given<string>;
  /** The same, as Ollama takes it too. */
  reasoning?: Given<{ effort?: Given<string> }>;
  /** Ours: drop the oldest turns that do not fit the window. Default false. */
  truncate?: Given<boolean>;
  logprobs?: Given<boolean>;
  top_logprobs?: Given<number>;
  /** The forerunner of tools. */
  functions?: Given<unknown[]>;
  audio?: unknown;
  web_search_options?: unknown;
}

/** Body of POST /v1/completions. */
export interface CompletionBody extends SamplingBody {
  /** A text, texts, token ids, or lists of those. */
  prompt?: unknown;
  suffix?: Given<string>;
  /** Give the prompt out before its continuation. */
  echo?: Given<boolean>;
  best_of?: Given<number>;
  logprobs?: Given<number>;
  /** Ours, as of POST /api/generate: without the model's template. */
  raw?: Given<boolean>;
}
