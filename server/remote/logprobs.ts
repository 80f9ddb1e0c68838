// Log-probabilities of tokens from the wire: Ollama and OpenAI's chats write them the same way,
// OpenAI's older completions in lists. Pure.

import type { TokenLogprob, TokenProbability } from "../../engine/mod.ts";

/** A token and how likely it was. */
interface WireProbability {
  token: string;
  logprob: number;
  bytes?: number[] | null;
}

/** A token of an answer, and the likeliest ones in its place. */
export interface WireLogprob extends WireProbability {
  top_logprobs?: WireProbability[] | null;
}

/** The lists of OpenAI's completions, an element per token. */
export interface LogprobLists {
  tokens?: string[];
  token_logprobs?: (number | null)[];
  top_logprobs?: (Record<string, number> | null)[] | null;
}

/** Tokens of an answer; undefined if there are none. */
export function fromLogprobs(
  logprobs: readonly WireLogprob[] | null | undefined,
): TokenLogprob[] | undefined {
  if (!logprobs?.length) return undefined;
  return logprobs.map(({ top_logprobs: top, ...chosen }) => ({
    ...toProbability(chosen),
    top: (top ?? []).map(toProbability),
  }));
}

/** Tokens of an answer that has a list for each member; undefined if there are none. */
export function fromLogprobLists(lists: LogprobLists): TokenLogprob[] | undefined {
  return fromLogprobs(
    lists.tokens?.map((token, index) => ({
      token,
      logprob: lists.token_logprobs?.[index] ?? 0,
      top_logprobs: Object.entries(lists.top_logprobs?.[index] ?? {})
        .map(([token, logprob]) => ({ token, logprob })),
    })),
  );
}

function toProbability({ token, logprob, bytes }: WireProbability): TokenProbability {
  return { token, logprob, bytes: bytes ?? [...new TextEncoder().encode(token)] };
}
