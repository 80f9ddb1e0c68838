// Log-probabilities of tokens from the logits that a model gave: on the host and in doubles, for the
// few answers that ask for them.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import { RequestError } from "../errors.ts";
import type { TokenLogprob, TokenProbability } from "../event_types.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Errors: RequestError where so many of the likeliest tokens cannot be told. */
export function checkLogprobs(most: number | undefined): void {
  if (most === undefined || (Number.isInteger(most) && most >= 0)) return;
  throw new RequestError(
    `Cannot generate: logprobs is ${most}, it must be a whole number from 0 up`,
  );
}

/**
 * What the logits of a position say of the token that came there.
 *
 * @param logits [vocabulary]
 * @param most how many of the likeliest tokens are told beside it
 */
export function tokenLogprob(
  logits: Float32Array,
  token: number,
  most: number,
  tokenizer: Tokenizer,
): TokenLogprob {
  const normalizer = logSumExp(logits);
  const tell = (id: number): TokenProbability => {
    const bytes = tokenizer.hasText ? tokenizer.tokenBytes(id) : new Uint8Array(0);
    return {
      token: decoder.decode(bytes),
      bytes: [...bytes],
      logprob: logits[id]! - normalizer,
    };
  };
  return { ...tell(token), top: likeliest(logits, most).map(tell) };
}

/** Logarithm of the sum of e to the power of each. */
function logSumExp(logits: Float32Array): number {
  let largest = -Infinity;
  for (const logit of logits) if (logit > largest) largest = logit;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - largest);
  return largest + Math.log(sum);
}

/** The tokens with the largest logits, the largest first; of equal ones the lower id. */
function likeliest(logits: Float32Array, most: number): number[] {
  const best: number[] = [];
  for (let token = 0; token < logits.length; token++) {
    if (best.length >= most && !(logits[token]! > logits[best.at(-1) ?? token]!)) continue;
    let place = best.length;
    while (place > 0 && logits[best[place - 1]!]! < logits[token]!) place--;
    best.splice(place, 0, token);
    if (best.length > most) best.pop();
  }
  return best;
}
