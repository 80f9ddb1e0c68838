// Log-probabilities of tokens, which the native API and OpenAI's chats write alike, and how many
// alternatives a request may ask for. Pure.

import type { TokenLogprob, TokenMask, TokenProbability } from "../../../engine/mod.ts";
import { given } from "../../given.ts";
import type { BodyOf } from "../body/schema.ts";
import type { logprobSchema, maskedLogprobSchema } from "./openapi/answer_parts.ts";

/** A token of an answer, and the likeliest ones in its place. */
export type WireLogprob = BodyOf<typeof logprobSchema>;

/** A token with what the format allowed there, if the request asked for that. */
export type MaskedLogprob = BodyOf<typeof maskedLogprobSchema>;

/** The most alternatives of a token that an answer tells. */
export const MOST_ALTERNATIVES = 20;

/** Whether a request may ask for this number of alternatives. */
export function isAlternatives(count: number): boolean {
  return count >= 0 && count <= MOST_ALTERNATIVES;
}

/** Tokens for the wire, with what the format allowed in their places where that is known. */
export function toMaskedLogprobs(logprobs: readonly TokenLogprob[]): MaskedLogprob[] {
  return toLogprobs(logprobs).map((told, index) => {
    const { mask } = logprobs[index]!;
    return mask ? { ...told, mask: toMask(mask) } : told;
  });
}

function toMask(
  { allowed, vocabulary, forced, pointers, spans, ...top }: TokenMask,
): MaskedLogprob["mask"] {
  return {
    allowed,
    vocabulary,
    ...given({ forced, pointers, spans: spans?.map((span) => [...span]) }),
    top_allowed: top.topAllowed.map(toProbability),
    top_forbidden: top.topForbidden.map(toProbability),
  };
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
