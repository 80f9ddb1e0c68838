// What answers give out: pieces of text, thinking and tool calls, and the counts at the end. Plain
// data, as types.ts has it: all of it passes postMessage.

/** Exact counts, and times in milliseconds. */
export interface Usage {
  /** All tokens of the prompt, cached ones included. */
  promptTokens: number;
  /** Those of them whose keys and values were still there. */
  cachedTokens: number;
  /** Those of the cached ones that came back from the system's memory; missing where none did. */
  fromMemoryTokens?: number;
  /** Those of the cached ones that came back from disk; missing where none did. */
  fromDiskTokens?: number;
  /** Tokens generated, the one that ended the answer included. */
  completionTokens: number;
  /** Tokens that were drafted; missing where none were. */
  draftedTokens?: number;
  /** Those of them that came. */
  acceptedTokens?: number;
  /** Time from admission to the first token. */
  promptMilliseconds: number;
  /** Time from the first token to the last. */
  completionMilliseconds: number;
}

/** `stop`: the model ended or a stop string came. `length`: maxTokens or the window. */
export type DoneReason = "stop" | "length";

/**
 * A request is found right and waits until its prompt can run. Comes before `start`, and again now and
 * then when the number has changed.
 */
export interface QueuedEvent {
  /** Tells it from other events. */
  type: "queued";
  /** Requests that come first: they are read before it, or have to make room for it. */
  ahead: number;
}

/** An answer begins: its prompt is about to run. */
export interface StartEvent {
  /** Tells it from other events. */
  type: "start";
  /** All tokens of the prompt, cached ones included. */
  promptTokens: number;
  /** Those of them whose keys and values are still there. */
  cachedTokens: number;
}

/** Some of the prompt has been read; comes where a request asks for progress, before its first text. */
export interface ProgressEvent {
  /** Tells it from other events. */
  type: "progress";
  /** All tokens of the prompt. */
  promptTokens: number;
  /** Those of them that were still there. */
  cachedTokens: number;
  /** Those of them that are read by now, cached ones included. */
  processedTokens: number;
  /** Time since reading began. */
  milliseconds: number;
}

/** A token that may have come, and how likely that was. */
export interface TokenProbability {
  /** Its text; a token that ends within a character has U+FFFD there. */
  token: string;
  /** The bytes that it stands for. */
  bytes: number[];
  /** Natural logarithm of its probability. */
  logprob: number;
}

/** What the format of an answer allowed in the place of a token. */
export interface TokenMask {
  /** How many tokens might have come. */
  allowed: number;
  /** How many tokens there are. */
  vocabulary: number;
  /** The text that had to come next, whatever the model would say; missing where there was a choice. */
  forced?: string;
  /** The likeliest tokens that might have come, the likeliest first. */
  topAllowed: TokenProbability[];
  /** The likeliest tokens that might not. */
  topForbidden: TokenProbability[];
}

/** A token that came. */
export interface TokenLogprob extends TokenProbability {
  /** The likeliest tokens in its place, the likeliest first. */
  top: TokenProbability[];
  /** Where it is wanted and the answer has a format: what the format allowed. */
  mask?: TokenMask;
}

/** A token of a text. */
export interface TextToken {
  /** Its number in the vocabulary. */
  id: number;
  /** Its text; a token that ends within a character has U+FFFD there. */
  text: string;
  /** The bytes that it stands for. */
  bytes: number[];
}

/** A piece of text. */
export interface TextPiece {
  /** Never empty, but for vocabularies that have no text. */
  text: string;
  /** Where they are wanted: of the tokens that it is made of. */
  logprobs?: TokenLogprob[];
}

/**
 * What a generation gives out, in order; `start` is first, but for `queued`, and `done` is last. An
 * abort ends the stream without `done`.
 */
export type GenerateEvent =
  | QueuedEvent
  | StartEvent
  | ProgressEvent
  | { type: "text"; tokens: number[] } & TextPiece
  | DoneEvent;

/** The end of an answer. */
export interface DoneEvent {
  /** Tells it from other events. */
  type: "done";
  /** Why it ended. */
  reason: DoneReason;
  /** The stop string that came, if one did. */
  stopString?: string;
  /** What it took. */
  usage: Usage;
  /** Where the request has one: its tokens, the prompt's and the answer's, to go on from. */
  context?: number[];
  /** What was done in another way than asked for, as sentences for a log. */
  notes?: string[];
  /** Messages that did not fit the window and were left out. */
  droppedMessages?: number;
  /** Which of them: the `index` of those that have one. */
  droppedIndexes?: number[];
}

/**
 * What a chat gives out, in order; `start` is first, but for `queued`, and `done` is last. A call is a
 * start, pieces of its arguments' JSON text, and an end with all of them; calls do not overlap.
 */
export type ChatEvent =
  | QueuedEvent
  | StartEvent
  | ProgressEvent
  | { type: "text" | "thinking" } & TextPiece
  | { type: "callStart"; id: string; name: string }
  | { type: "callArguments"; id: string; json: string }
  | { type: "callEnd"; id: string; name: string; arguments: Record<string, unknown> }
  | DoneEvent;
