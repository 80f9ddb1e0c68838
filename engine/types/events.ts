// The events of answers: pieces of text, thinking and tool calls, and the counts at the end. Plain
// data that postMessage can send, as in requests.ts.

import type { CapturedPoint } from "./hooks.ts";

/** Exact counts, and times in milliseconds. */
export interface Usage {
  /** All tokens of the prompt, including cached ones. */
  promptTokens: number;
  /** Tokens of the prompt whose keys and values were cached. */
  cachedTokens: number;
  /** Cached tokens that were restored from the system's memory; missing if there were none. */
  fromMemoryTokens?: number;
  /** Cached tokens that were restored from disk; missing if there were none. */
  fromDiskTokens?: number;
  /** Generated tokens, including the one that ended the answer. */
  completionTokens: number;
  /** Tokens that were drafted; missing if there were none. */
  draftedTokens?: number;
  /** Drafted tokens that the model accepted. */
  acceptedTokens?: number;
  /** Time from admission to the first token. */
  promptMilliseconds: number;
  /** Time from the first token to the last. */
  completionMilliseconds: number;
}

/**
 * `stop`: the model ended its answer, or a stop string occurred. `length`: maxTokens or the window.
 */
export type DoneReason = "stop" | "length";

/**
 * A request is valid and waits until its prompt can run. Comes before `start`, and again when the
 * number has changed.
 */
export interface QueuedEvent {
  /** Tells it from other events. */
  type: "queued";
  /** Number of requests that come first: they are read before it, or have to free memory for it. */
  ahead: number;
}

/** An answer begins: its prompt will run next. */
export interface StartEvent {
  /** Tells it from other events. */
  type: "start";
  /** All tokens of the prompt, including cached ones. */
  promptTokens: number;
  /** Tokens of the prompt whose keys and values are cached. */
  cachedTokens: number;
}

/**
 * A part of the prompt has been read. Only for requests that ask for progress, before their first
 * text.
 */
export interface ProgressEvent {
  /** Tells it from other events. */
  type: "progress";
  /** All tokens of the prompt. */
  promptTokens: number;
  /** Tokens of the prompt that were cached. */
  cachedTokens: number;
  /** Tokens of the prompt that were read so far, including cached ones. */
  processedTokens: number;
  /** Milliseconds since reading began. */
  milliseconds: number;
}

/** A token that was possible, and its probability. */
export interface TokenProbability {
  /** Its text. Incomplete characters are U+FFFD. */
  token: string;
  /** The bytes that it stands for. */
  bytes: number[];
  /** Natural logarithm of its probability. */
  logprob: number;
}

/** The parts of a format that say what may come at a position of an answer, as far as that is known. */
export interface RulesInForce {
  /** Of a JSON Schema: JSON pointers to its parts about the value that is open, the outermost first. */
  pointers?: string[];
  /** Of a pattern or a grammar: where in its text, in UTF-16 units, what may come next stands. */
  spans?: (readonly [start: number, end: number])[];
}

/** The tokens that the format of an answer allowed where a token came. */
export interface TokenMask extends RulesInForce {
  /** Number of allowed tokens. */
  allowed: number;
  /** Number of tokens in the vocabulary. */
  vocabulary: number;
  /** The text that had to come next, whatever the model computed; missing if there was a choice. */
  forced?: string;
  /** The most likely allowed tokens, in descending order. */
  topAllowed: TokenProbability[];
  /** The most likely tokens that were not allowed, in descending order. */
  topForbidden: TokenProbability[];
}

/** A generated token. */
export interface TokenLogprob extends TokenProbability {
  /** The most likely tokens at its position, in descending order. */
  top: TokenProbability[];
  /** The tokens that the format allowed, if the request asks for this and has a format. */
  mask?: TokenMask;
}

/** A token of a text. */
export interface TextToken {
  /** Its number in the vocabulary. */
  id: number;
  /** Its text. Incomplete characters are U+FFFD. */
  text: string;
  /** The bytes that it stands for. */
  bytes: number[];
}

/** A token of a text, and how likely it was at its position. */
export interface TokenScore extends TextToken {
  /**
   * Natural logarithm of the model's own probability, over the whole vocabulary. Missing for the first
   * token of a text, which nothing precedes.
   */
  logprob?: number;
  /** 1 for the most likely token at this position. */
  rank?: number;
  /** The most likely tokens at its position, in descending order, if the request asks for some. */
  top?: (TextToken & { logprob: number })[];
}

/** The tokens of a prompt, and how likely each was, if the request asks for that. */
export interface PromptEvent {
  /** Tells it from other events. */
  type: "prompt";
  /** All of them, a BOS that was added included. */
  scores: TokenScore[];
  /** How many at the beginning are no part of the prompt's text: 1 with such a BOS, else 0. */
  added: number;
}

/** A piece of text. */
export interface TextPiece {
  /** The text. Not empty, except for vocabularies without text. */
  text: string;
  /** The tokens of the text, if the request asks for log-probabilities. */
  logprobs?: TokenLogprob[];
}

/**
 * The events of a generation, in order: `prompt` if it is wanted, `queued` if it waits, `start`, pieces of
 * text, and `done`.
 * An abort ends the stream without `done`.
 */
export type GenerateEvent =
  | PromptEvent
  | QueuedEvent
  | StartEvent
  | ProgressEvent
  | { type: "text"; tokens: number[] } & TextPiece
  | DoneEvent;

/** How much of a prompt was in the cache, and what was not for one position that differs. */
export interface CacheReport
  extends
    Required<Pick<Usage, "fromMemoryTokens" | "fromDiskTokens">>,
    Pick<Usage, "promptTokens" | "cachedTokens"> {
  /**
   * Tokens at its beginning that one of the last texts had as well: more than the cached ones by what
   * has been evicted since, or lies behind the last copy of recurrent states.
   */
  commonTokens: number;
  /** Where the prompt parts from an earlier text that it repeats behind that; missing: nowhere. */
  lost?: {
    /** Tokens behind that position that the earlier text had as well. */
    tokens: number;
    /** About how long it took to read them again. */
    milliseconds: number;
    /** Index of the first token of the prompt that differs. */
    token: number;
    /** Its index in the text of the prompt, in UTF-16 units. */
    offset: number;
    /** The text before it. */
    before: string;
    /** The text that the earlier prompt has there. */
    was: string;
    /** The text that this prompt has there. */
    is: string;
    /** Of a chat, the message that it lies in: its `index`, or where it stands. */
    message?: number;
    /** Why that is so, and what to do, as a sentence for people. */
    advice: string;
  };
}

/** Steps of a model that ran for one request, one after the other. */
export interface StepSpan {
  /** When the first of them was submitted, in milliseconds since 1970. */
  began: number;
  /** From then until the last of them was read. */
  milliseconds: number;
  /** Whether they read its prompt. */
  prefill: boolean;
  /** How many steps they are. */
  steps: number;
  /** Its rows in them: tokens of the prompt, or of the answer, drafted ones included. */
  tokens: number;
  /** Sequences that shared a step, itself included: the most of any of them. */
  sequences: number;
}

/** The end of an answer. */
export interface DoneEvent {
  /** Tells it from other events. */
  type: "done";
  /** The reason why it ended. */
  reason: DoneReason;
  /** The stop string that occurred, if any. */
  stopString?: string;
  /** The token by which the model ended, which has no text, if the request asks for log-probabilities. */
  endToken?: TokenLogprob;
  /** Counts and times. */
  usage: Usage;
  /** The tokens of prompt and answer, to continue from, if the request asks for them. */
  context?: number[];
  /** What its hooks have kept, if it has any. */
  captured?: CapturedPoint[];
  /** What was found in the cache, if the request asks for it. */
  cacheReport?: CacheReport;
  /** The steps that ran for it, if the request asks for them. */
  timeline?: StepSpan[];
  /** What was done in another way than the request asks, as sentences for people. */
  notes?: string[];
  /** Number of messages that were left out because they did not fit the window. */
  droppedMessages?: number;
  /** Which of them: the `index` of those that have one. */
  droppedIndexes?: number[];
}

/**
 * The events of a chat or a generation, in order: `prompt` of a generation alone, `queued` if it waits, `start`, the answer, and `done`. A tool
 * call is a start, pieces of its arguments' JSON text, and an end with all of them. Calls do not
 * overlap. Numbers in the text are as the model wrote them; those at the end are doubles. A call
 * without an end was cut short: it must not be run. Only models on other servers give such calls.
 */
export type ChatEvent =
  | PromptEvent
  | QueuedEvent
  | StartEvent
  | ProgressEvent
  | { type: "text" | "thinking" } & TextPiece
  | { type: "callStart"; id: string; name: string }
  | { type: "callArguments"; id: string; json: string }
  | { type: "callEnd"; id: string; name: string; arguments: Record<string, unknown> }
  | DoneEvent;
