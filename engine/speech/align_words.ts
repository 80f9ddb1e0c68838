// The words of the window that was encoded last: the decoder runs its text once more, without times, and
// what its alignment heads attend to tells when each word was spoken.

import { exponential, logSumOfExponentials } from "../../kernels/mod.ts";
import type { Tokenizer } from "../../tokenizer/mod.ts";
import { inSlices } from "../async.ts";
import type { SpecialTokens } from "./special_tokens.ts";
import type { SpeechNetwork } from "./speech_network.ts";
import { FRAMES_PER_ROW } from "./whisper.ts";
import { attentionMatrix, warp } from "./alignment.ts";
import { type TimedWord, timeWords } from "./word_times.ts";
import { splitWords } from "./words.ts";

/** A text whose words are looked for. */
export interface SpokenText {
  /** Tokens of words alone, of each segment. */
  readonly segments: readonly (readonly number[])[];
  /** The start of the transcript, with its language and task where the model has several. */
  readonly start: readonly number[];
  /** The language in which it is written, by its code. */
  readonly language: string;
  /** Frames of the window that are sound. */
  readonly frames: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The words of a text, none of which is in two segments, with their times in seconds from the beginning of the window. Errors: those of
 * {@linkcode SpeechNetwork.align}.
 */
export async function alignWords(
  { network, special, tokenizer }: {
    network: SpeechNetwork;
    special: SpecialTokens;
    tokenizer: Tokenizer;
  },
  { segments, start, language, frames, signal }: SpokenText,
): Promise<TimedWord[]> {
  const tokens = segments.flat();
  const rows = Math.max(1, Math.floor(frames / FRAMES_PER_ROW));
  if (tokens.length === 0) return [];
  const all = [...start, special.noTimes, ...tokens, special.end];
  const probabilities = new Float64Array(tokens.length);
  const heads = await network.align(all, (logits, index) => {
    const next = index - start.length;
    if (next < 0 || next >= tokens.length) return;
    const sum = logSumOfExponentials(logits, 0, special.end);
    probabilities[next] = exponential(logits[tokens[next]] - sum);
  }, signal);
  const matrix = await inSlices(attentionMatrix(heads, all.length, rows));
  signal?.throwIfAborted();
  // A token is spoken where the one before it attends to.
  const [first, end] = [start.length, start.length + tokens.length + 1];
  const path = warp(matrix.subarray(first * rows, end * rows), end - first, rows);
  const words = segments.flatMap((own) => splitWords(own, tokenizer, language));
  return timeWords(words, await inSlices(path), probabilities);
}
