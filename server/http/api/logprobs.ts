// Log-probabilities of tokens as the native API and OpenAI's chats have them, which is the same; and
// what a request may ask for. Pure.

import type { TokenLogprob, TokenProbability } from "../../../engine/mod.ts";
import type { BodyOf } from "../body/schema.ts";
import type { logprobSchema } from "./openapi/answer_parts.ts";

/** A token of an answer, and the likeliest ones in its place. */
export type WireLogprob = BodyOf<typeof logprobSchema>;

/** Most alternatives that are told of a token. */
export const MOST_ALTERNATIVES = 20;

/** Whether so many alternatives can be told. */
export function isAlternatives(count: number): boolean {
  return count >= 0 && count <= MOST_ALTERNATIVES;
}

/** Tokens for the wire. */
export function toLogprobs(logprobs: readonly TokenLogprob[]): WireLogprob[] {
  return logprobs.map(({ top, ...chosen }) => ({
    ...toProbability(chosen),
    top_logprobs: top.map(toProbability),
  }));
}

function toProbability(
  { token, logprob, bytes }: TokenProbability,
): WireLogprob["top_logprobs"][number] {
  return { token, logprob, bytes };
}
