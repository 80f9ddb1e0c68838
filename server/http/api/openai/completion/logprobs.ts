// Log-probabilities as POST /v1/completions has them: lists side by side, a token each. Pure.
// Format: https://platform.openai.com/docs/api-reference/completions/object

import type { TokenLogprob } from "../../../../../engine/mod.ts";
import type { CompletionLogprobs } from "../answer_schema.ts";

/** No tokens. */
export function noLogprobs(): CompletionLogprobs {
  return { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
}

/** @param offset characters before the piece */
export function toCompletionLogprobs(
  logprobs: readonly TokenLogprob[],
  offset: number,
): CompletionLogprobs {
  const all = noLogprobs();
  for (const { token, logprob, top } of logprobs) {
    all.tokens.push(token);
    all.token_logprobs.push(logprob);
    const alternatives = top.toReversed().map((other) => [other.token, other.logprob]);
    all.top_logprobs.push({ [token]: logprob, ...Object.fromEntries(alternatives) });
    all.text_offset.push(offset);
    offset += [...token].length;
  }
  return all;
}

/** Appends the second to the first. */
export function append(all: CompletionLogprobs, more: CompletionLogprobs): void {
  all.tokens.push(...more.tokens);
  all.token_logprobs.push(...more.token_logprobs);
  all.top_logprobs.push(...more.top_logprobs);
  all.text_offset.push(...more.text_offset);
}
