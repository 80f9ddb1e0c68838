// Requests to a model and their options, the same for the library, the worker and every HTTP dialect.
// Plain data that postMessage can send, except for signals.

import type { ChoiceOptions } from "./choice.ts";
import type { HookOptions } from "./hooks.ts";
import type { LoraOptions } from "./lora.ts";
import type { GrammarRules } from "../grammar/mod.ts";
import type { OptionTypes, SAMPLING_OPTIONS, TOKEN_OPTIONS } from "./options.ts";

/**
 * How the next token is sampled: {@linkcode SAMPLING_OPTIONS} has the bounds, default and help of each
 * option. Its comments are those of the members here, as long as the type goes through its keys as they
 * are.
 */
export type SamplingOptions = {
  -readonly [Name in keyof typeof SAMPLING_OPTIONS]?:
    OptionTypes[(typeof SAMPLING_OPTIONS)[Name]["type"]];
};

/**
 * How likely single tokens are: {@linkcode TOKEN_OPTIONS} has the bounds, default and help of each option
 * from the table. With those that change from token to token (DRY, min_tokens, bad words of several
 * tokens), nothing is drafted.
 */
export type TokenOptions =
  & {
    -readonly [Name in keyof typeof TOKEN_OPTIONS]?:
      OptionTypes[(typeof TOKEN_OPTIONS)[Name]["type"]];
  }
  & {
    /**
     * What is added to the logits of tokens, or of each token of a text. -Infinity: it never comes, except
     * where a format allows nothing else.
     */
    logitBias?: readonly (readonly [token: number | string, bias: number])[];
    /** Tokens that end the answer, and are no part of it, beside the model's own. */
    stopTokens?: readonly number[];
    /** The only tokens that may come, its end among them; not beside a format. Default: all. */
    allowedTokens?: readonly number[];
  };

/**
 * The format of an answer, which a token mask enforces. "json": any JSON object. schema: a document
 * of a JSON Schema, given as a value or as JSON text. grammar: GBNF text or rules. pattern: text
 * that an ECMA-262 regular expression matches as a whole.
 */
export type OutputFormat =
  | "json"
  | { schema: unknown }
  | { grammar: string | GrammarRules }
  | { pattern: string };

/** The options of the answer's format. */
export interface FormatOptions {
  /** Default: any text. Errors: SchemaError, GrammarError. */
  format?: OutputFormat;
  /**
   * Whether objects may have keys that the schema does not mention, and values types of which it
   * says nothing, as in JSON Schema. Default false: only keys that the schema declares or allows are
   * generated, and `properties` without `type` means objects. Applies to the arguments of tools, too.
   */
  openObjects?: boolean;
  /**
   * Whether an answer with a format is led to its shortest end before maxTokens or the window would
   * cut it off, so that it is complete. Default true.
   */
  finish?: boolean;
}

/** Load options in requests to models on other servers. */
export interface RemoteLoadOptions {
  /**
   * Layers on that server's GPU. Ignored for models on this machine, where load options determine
   * it.
   */
  gpuLayers?: number;
  /** Most prompt tokens per step on that server. Ignored for models on this machine, too. */
  prefillChunk?: number;
}

/** The window of a request. */
export interface WindowOptions {
  /** Most tokens of prompt and answer together. Default, and maximum: the model's window. */
  contextLength?: number;
}

/** The session of a program that a request belongs to, such as that of a coding agent. */
export interface RequestSession {
  /** Tells it from other sessions. */
  id: string;
  /**
   * Whether it stands beside the session's main conversation, as subagents and compactions do. Then it
   * begins when none of that conversation runs or waits, though after a minute at the latest, and what
   * the conversation has in the cache counts as just used. Default false.
   */
  isBeside?: boolean;
}

/** On whose behalf a request is made, where several share a model. */
export interface RequestShare {
  /** Tells it from others. */
  id: string;
  /** How much of the model it gets beside others that ask at the same time. Default 1. */
  weight?: number;
}

/** Limits of one answer. */
export interface LimitOptions extends WindowOptions, LoraOptions, RemoteLoadOptions, TokenOptions {
  /**
   * Whether other requests come first: it begins when none of them runs, though after a minute at the
   * latest, and what it leaves in the cache goes before theirs. Default false.
   */
  background?: boolean;
  /** The session that it belongs to. Default: none. */
  session?: RequestSession;
  /** On whose behalf it is made. Default: that of all requests that do not say it. */
  share?: RequestShare;
  /** Most tokens to generate. Default: until the model ends its answer or the window is full. */
  maxTokens?: number;
  /** Strings that end the answer. They are not part of its text, unless `includeStop` says so. */
  stop?: string[];
  /** Whether the string that ended the answer is the end of its text. Default false. */
  includeStop?: boolean;
  /**
   * Milliseconds after the first token from which on the answer ends at its next line break, as if it
   * had reached `maxTokens`. Default, and 0 or less: no limit.
   */
  maxMilliseconds?: number;
  /**
   * Whether to go on after the model ends its answer, up to the other limits; for measurements.
   * Default false.
   */
  ignoreEnd?: boolean;
  /**
   * Most tokens that are drafted at a time, from earlier text or by a draft model; a step checks all
   * of them at once. Drafts change how fast an answer comes, never what it says. 0: none. With a
   * number, a draft model always drafts that many. Default: as many as have paid off in this answer,
   * but at most 4 of a draft model.
   */
  draftTokens?: number;
  /**
   * Most tokens of thinking in a chat, at least one. Then the mark that ends it is inserted, and
   * the answer follows. Default: unlimited.
   */
  thinkBudget?: number;
  /**
   * Aborting it ends the thinking of a chat, and the answer follows. A worker's client forwards it
   * as a message.
   */
  answerNow?: AbortSignal;
}

/** Facts that an answer reports besides its text. */
export interface ReportOptions {
  /**
   * Whether the end of the answer tells how much of the prompt was in the cache, and which position cost
   * it the rest. Default false.
   */
  cacheReport?: boolean;
  /** Whether the end of the answer tells when which steps ran for it. Default false. */
  timeline?: boolean;
  /**
   * What to keep of the model's values while it answers, and what to change, for this request alone.
   * Errors: RequestError for points that the model does not have.
   */
  hooks?: HookOptions;
  /**
   * Number of most likely tokens to report in the place of each token, together with its own
   * log-probability. These are the model's own: before penalties, temperature and format. Default:
   * no report.
   */
  logprobs?: number;
  /**
   * Whether to report, with the log-probabilities, what the format allowed in the place of each
   * token; at least one most likely token is listed. Then each token is sampled, even if only one
   * is possible. Default false.
   */
  masks?: boolean;
  /**
   * Tokens before the prompt: the `context` at the end of an earlier answer. If it is set, even to
   * an empty one, the answer ends with such a context.
   */
  context?: readonly number[];
  /**
   * Whether to report how much of the prompt is read, after each step that reads a part of it.
   * Default false.
   */
  progress?: boolean;
}

/** A prompt to continue. */
export interface GenerateRequest
  extends SamplingOptions, LimitOptions, FormatOptions, ReportOptions, ChoiceOptions {
  /**
   * Text (BOS is added as the vocabulary says, special tokens are parsed), or token ids as they
   * are.
   */
  prompt: string | readonly number[];
  /**
   * Text after the answer: the model fills the gap between the prompt and it. Errors: RequestError
   * if the vocabulary has no tokens for that.
   */
  suffix?: string;
  /** Pictures in the prompt, as bytes of files or their base64, in order. */
  images?: readonly (Uint8Array | string)[];
  /** Sounds in the prompt, for models that hear, likewise. */
  audio?: readonly (Uint8Array | string)[];
  /**
   * Number of most likely tokens to report in the place of each token of the prompt, which has no images
   * and no suffix then. Default: no report.
   */
  promptLogprobs?: number;
  /**
   * Aborting it ends the generation within one decode step. A worker's client forwards it as a
   * message.
   */
  signal?: AbortSignal;
}

/** A tool call that the model made. */
export interface ToolCall {
  /** Id that the answer to the call refers to. */
  id?: string;
  /** Name and arguments of the function. */
  function: { name: string; arguments: Record<string, unknown> };
}

/** One turn of a conversation. */
export interface ChatMessage {
  /** The author of the message. */
  role: "system" | "user" | "assistant" | "tool";
  /** The text. */
  content: string;
  /** Pictures in the turn, as bytes of files or their base64, in order. */
  images?: readonly (Uint8Array | string)[];
  /** Sounds in the turn, for models that hear, likewise. */
  audio?: readonly (Uint8Array | string)[];
  /** The thinking of an assistant before its answer. */
  thinking?: string;
  /** Tools that an assistant called. */
  toolCalls?: ToolCall[];
  /** Name of the tool whose answer this is. */
  toolName?: string;
  /** Id of the call whose answer this is. */
  toolCallId?: string;
  /** What `droppedIndexes` calls it if it is left out, such as where it stands in the caller's list. */
  index?: number;
}

/** A tool that the model may call. `parameters` is a JSON Schema, which templates get unchanged. */
export interface Tool {
  /** The only type there is. */
  type: "function";
  /** The function. */
  function: {
    name: string;
    description?: string;
    parameters?: Record<string, unknown>;
    /**
     * Whether to refuse the request if `parameters` cannot be enforced completely. Default false.
     */
    strict?: boolean;
  };
}

/** A conversation to answer. */
export interface ChatRequest
  extends SamplingOptions, LimitOptions, FormatOptions, ReportOptions, ChoiceOptions {
  /** The conversation so far, the oldest turn first. */
  messages: ChatMessage[];
  /** Tools that the model may call. */
  tools?: Tool[];
  /**
   * Whether calls are possible (auto, the default), required, or excluded; or the tool that must be
   * called.
   */
  toolChoice?: "auto" | "required" | "none" | { name: string };
  /** Whether an answer may call more than one tool. Default true. */
  parallelToolCalls?: boolean;
  /** Whether, and how hard, a thinking model thinks. Templates see it as `enable_thinking`. */
  think?: boolean | "low" | "medium" | "high" | "max";
  /**
   * Whether the answer continues the last message (prefill) instead of following it: the prompt ends
   * with that message's text, or its thinking if it has no text, and the answer is what comes after
   * it. Default: whether an assistant said it and called no tools. If true, a message of any role is
   * continued. If false, an assistant's message counts as whole, and another one follows. Errors:
   * RequestError if the message cannot be continued: it has tool calls, the template leaves it out,
   * or no answer in the request's format begins with it.
   */
  continueFinalMessage?: boolean;
  /**
   * Whether to drop the oldest turns if the conversation does not fit the window: a user's message
   * with all that follows it, but never the last one. Default true. If false, or if the last turn
   * alone does not fit, that is a ContextLengthError.
   */
  truncate?: boolean;
  /** A template in Ollama's language, instead of the model's own. Errors: RequestError. */
  template?: string;
  /**
   * Further variables of the model's own template, such as `documents`, whose texts are data. Those
   * that the template does not read change nothing. Errors: RequestError beside a template in
   * Ollama's language.
   */
  templateVariables?: Record<string, unknown>;
  /** Aborting it ends the answer within one decode step. */
  signal?: AbortSignal;
}

/** A text whose tokens are scored. */
export interface ScoreInput {
  /** Text (BOS is added as the vocabulary says, special tokens are parsed), or token ids as they are. */
  text: string | readonly number[];
  /** Number of the first token that is scored. Those before it are only read. Default 0. */
  from?: number;
}

/** Texts whose tokens are scored. */
export interface ScoreRequest extends WindowOptions, LoraOptions {
  /** At least one. What they have in common at the beginning is run once. */
  inputs: readonly ScoreInput[];
  /** Number of most likely tokens to report in the place of each token. Default 0. */
  top?: number;
  /** Aborting it ends the call with its reason. */
  signal?: AbortSignal;
}

/** A text to split into tokens. */
export interface TokenizeRequest {
  /** The text. */
  text: string;
  /** Whether BOS and EOS come around it where the vocabulary wants them. Default false. */
  around?: boolean;
  /** Whether control tokens in the text become tokens. Default true. */
  special?: boolean;
}

/** An input to embed: text (the special tokens of the model are added) or token ids as they are. */
export type EmbedInput = string | readonly number[];

/** The options of embeddings. */
export interface EmbedOptions extends WindowOptions, LoraOptions, RemoteLoadOptions {
  /**
   * Whether to cut off the end of an input that does not fit the window. Default true. If false,
   * that is a ContextLengthError.
   */
  truncate?: boolean;
  /**
   * Number of elements of each vector to keep, from the first on; the rest is normalized again.
   * Default: all.
   */
  dimensions?: number;
  /** Aborting it ends the call with its reason. */
  signal?: AbortSignal;
}

/** Inputs to embed. */
export interface EmbedRequest extends EmbedOptions {
  /** The inputs, each of which becomes one vector. */
  inputs: readonly EmbedInput[];
}

/** The result of embedding. */
export interface EmbedResult {
  /** One unit vector per input, in order. The memory belongs to the caller. */
  embeddings: Float32Array[];
  /** Tokens of all inputs after cutting, including special tokens. */
  promptTokens: number;
}
