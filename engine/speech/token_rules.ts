// Which token may come next in a transcript: none of those that the file forbids; and of times: they
// come in pairs, the end of a segment and the start of the next; they never go back; the first one
// is within the first second; and where all times together are likelier than any word, one comes.

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
  const word = logits.subarray(0, firstTime).reduce(
    (most, value) => Math.max(most, value),
    -Infinity,
  );
  if (times > word) forbid(0, firstTime);
}

/** ln of the sum of the exponentials of some logits. */
export function logSumOfExponentials(
  logits: Float32Array,
  from = 0,
  to = logits.length,
): number {
  let most = -Infinity;
  for (let i = from; i < to; i++) most = Math.max(most, logits[i]);
  if (most === -Infinity) return -Infinity;
  let sum = 0;
  for (let i = from; i < to; i++) sum += Math.exp(logits[i] - most);
  return most + Math.log(sum);
}
