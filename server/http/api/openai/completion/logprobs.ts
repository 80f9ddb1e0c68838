// Log-probabilities as POST /v1/completions has them: lists side by side, a token each. Pure.
// Format: https://platform.openai.com/docs/api-reference/completions/object

import type { TokenLogprob, TokenProbability } from "../../../../../engine/mod.ts";
import type { CompletionLogprobs } from "../answer_schema.ts";

/** No tokens. */
export function noLogprobs(): CompletionLogprobs {
  return { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
}

/**
 * The lists of a piece of text. Parts of a character begin where it does, so that offsets never go
 * back, and are named by their bytes.
 * @param offset characters before the piece
 */
export function toCompletionLogprobs(
  logprobs: readonly TokenLogprob[],
  offset: number,
): CompletionLogprobs {
  const all = noLogprobs();
  const decoder = new TextDecoder();
  for (const shown of logprobs) {
    const alternatives = shown.top.toReversed().map((other) => [nameOf(other), other.logprob]);
    all.tokens.push(nameOf(shown));
    all.token_logprobs.push(shown.logprob);
    all.top_logprobs.push({ [nameOf(shown)]: shown.logprob, ...Object.fromEntries(alternatives) });
    all.text_offset.push(offset);
    offset += [...decoder.decode(Uint8Array.from(shown.bytes), { stream: true })].length;
  }
  return all;
}

/** The text of a token; of a part of a character its bytes, as OpenAI's models named them. */
function nameOf({ token, bytes }: TokenProbability): string {
  if (!token.includes("\uFFFD")) return token;
  return `bytes:${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
}

/** Appends the second to the first. */
export function append(all: CompletionLogprobs, more: CompletionLogprobs): void {
  all.tokens.push(...more.tokens);
  all.token_logprobs.push(...more.token_logprobs);
  all.top_logprobs.push(...more.top_logprobs);
  all.text_offset.push(...more.text_offset);
}
