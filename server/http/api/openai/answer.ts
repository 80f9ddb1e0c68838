// What the answers of OpenAI's endpoints have in common. Pure.

import type { Usage } from "../../../../engine/mod.ts";
import { type ServerSentEvent, type SseComment, waitingComment } from "../../stream/stream.ts";
import { sentenceOf } from "../../errors.ts";
import { openAiError } from "./errors.ts";
import type { CompletionUsage, OpenAiError } from "./answer_schema.ts";

/** An event of a stream of completions. */
export type CompletionEvent<Chunk> = ServerSentEvent<Chunk | OpenAiError | "[DONE]">;

/** The parts of a stream of completions. */
export type CompletionRecord<Chunk> = CompletionEvent<Chunk> | SseComment;

/** The sign of life of a stream: a comment, which clients ignore. */
export function waiting(ahead: number | undefined): SseComment[] {
  return [{ comment: waitingComment(ahead) }];
}

/** The last event of a stream that failed. */
export function failed(error: unknown): ServerSentEvent<OpenAiError> {
  return { data: openAiError(500, sentenceOf(error), error) };
}

/** Seconds since 1970. */
export function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** The fingerprint that Ollama's answers have on these paths. */
export const SYSTEM_FINGERPRINT = "fp_ollama";

/** Counts, as both kinds of completions have them. */
export function toUsage(usage: Usage): CompletionUsage {
  const { promptTokens, cachedTokens, completionTokens } = usage;
  const { draftedTokens: drafted = 0, acceptedTokens: accepted = 0 } = usage;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    ...(drafted > 0 && {
      completion_tokens_details: {
        accepted_prediction_tokens: accepted,
        rejected_prediction_tokens: drafted - accepted,
      },
    }),
  };
}
