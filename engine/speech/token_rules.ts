// Which token may come next in a transcript: none of those that the file forbids; and of times: they
// come in pairs, the end of a segment and the start of the next; they never go back; the first one
// is within the first second; and where all times together are likelier than any word, one comes.

import { logSumOfExponentials } from "../../kernels/mod.ts";
import type { SpecialTokens } from "./special_tokens.ts";

/** Latest time with which a window begins, in tokens of time: one second. */
const LATEST_START = 50;

/** What is known of a transcript so far. */
export interface TranscriptSoFar {
  /** The tokens behind the prompt. */
  readonly tokens: readonly number[];
  readonly special: SpecialTokens;
  readonly hasTimes: boolean;
}

/**
 * Applies the rules to the logits of the next token: those of tokens that may not come become
 * -Infinity. In place.
 */
export function applyRules(logits: Float32Array, transcript: TranscriptSoFar): void {
  const { tokens, special, hasTimes } = transcript;
  const { end, firstTime, noTimes, suppressed, suppressedFirst } = special;
  const forbid = (from: number, to: number) => logits.fill(-Infinity, from, to);
  for (const token of suppressed) logits[token] = -Infinity;
  if (tokens.length === 0) { for (const token of suppressedFirst) logits[token] = -Infinity; }
  if (!hasTimes) return;
  logits[noTimes] = -Infinity;
  const isTime = (token: number | undefined) => token !== undefined && token >= firstTime;
  const [before, last] = [tokens.at(-2), tokens.at(-1)];
  if (tokens.length === 0) {
    forbid(0, firstTime);
    forbid(firstTime + LATEST_START + 1, logits.length);
  } else if (isTime(last)) {
    // After a pair, or after the first time, words come; after the end of a segment, none.
    if (tokens.length === 1 || isTime(before)) forbid(firstTime, logits.length);
    else forbid(0, end);
  }
  const latest = tokens.findLast(isTime);
  if (latest !== undefined) {
    // A segment is not empty: only the time that opens the next one may equal the one before.
    const opens = isTime(last) && !isTime(before) && tokens.length > 1;
    forbid(firstTime, opens ? latest : latest + 1);
  }
  const times = logSumOfExponentials(logits, firstTime, logits.length);
  if (times > logits[mostLikely(logits, 0, firstTime)]) forbid(0, firstTime);
}

/** The token with the largest logit of some. Loops, because a callback for each of 50,000 is slow. */
export function mostLikely(logits: Float32Array, from = 0, to = logits.length): number {
  let best = from;
  for (let token = from + 1; token < to; token++) if (logits[token] > logits[best]) best = token;
  return best;
}

/** Forbids the tokens that a format's mask lacks: bit t of word t >> 5 is token t. In place. */
export function applyMask(logits: Float32Array, mask: Uint32Array): void {
  for (let token = 0; token < logits.length; token++) {
    if ((mask[token >>> 5] >>> (token & 31) & 1) === 0) logits[token] = -Infinity;
  }
}
