// What the answers of all of OpenAI's endpoints have in common: they take the engine's events one by
// one, say what a stream says for each, and hold the whole answer in the end. Pure.

import type { ChatEvent, DoneEvent, QueuedEvent, Usage } from "../../../../engine/mod.ts";
import type { ServerSentEvent } from "../../stream/sse.ts";

/** An event, and the choice of the answer that it belongs to; without one, the only one. */
export type ChoiceEvent = Exclude<ChatEvent, QueuedEvent> & { choice?: number };

/** An answer as it grows. */
export interface OpenAiAnswer {
  /** Takes an event. Gives what a stream says for it. */
  add(event: ChoiceEvent): ServerSentEvent[];
  /** The last that a stream says when it breaks off. */
  fail(message: string): ServerSentEvent;
  /** The whole answer, once all events were added. */
  whole(): unknown;
}

/** What tells an answer from others. */
export interface AnswerHead {
  /** Unique, letters and digits; answers put their kind before it. */
  id: string;
  /** As the client wrote it. */
  model: string;
  /** Seconds since 1970. */
  now: () => number;
}

/** How Ollama tells its answers from others on these paths. */
export const SYSTEM_FINGERPRINT = "fp_ollama";

/** Counts, as both kinds of completions have them. */
export function toUsage({ promptTokens, cachedTokens, completionTokens }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

/** Ours: how many of the oldest messages did not fit the window. */
export function toDropped({ droppedMessages }: DoneEvent): { dropped_messages?: number } {
  return droppedMessages ? { dropped_messages: droppedMessages } : {};
}
