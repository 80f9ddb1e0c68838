// The transcript of one window that was encoded: token by token, the most likely one, or several drawn
// ones of which the likeliest transcript is taken. What the tokens may be, token_rules.ts says.

import { exponential, logSumOfExponentials } from "../../kernels/mod.ts";
import type { Matcher } from "../grammar/mod.ts";
import { applyMask, applyRules, mostLikely } from "./token_rules.ts";
import type { SpecialTokens } from "./special_tokens.ts";
import { MOST_SEQUENCES, type SpeechNetwork } from "./speech_network.ts";

/** How a window is transcribed. */
export interface WindowRequest {
  /** Tokens of words that were said before. */
  readonly before: readonly number[];
  /** The start of a transcript, with its language and task where the model has several. */
  readonly start: readonly number[];
  readonly hasTimes: boolean;
  /** 0: the most likely token each time. */
  readonly temperature: number;
  /** Gives numbers from 0 to 1, not 1 itself. */
  readonly random: () => number;
  /** Follows a transcript in a format, which then decides what may come. Default: any text. */
  readonly matcher?: (() => Matcher) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The transcript of a window. */
export interface WindowTranscript {
  /** Words and times, without the end. */
  readonly tokens: readonly number[];
  /** Natural logarithm of the tokens' probabilities, the end included: their mean. */
  readonly meanLogprob: number;
  /** Probability that nobody speaks. */
  readonly noSpeech: number;
}

/** A transcript in the making. */
interface Draft {
  readonly slot: number;
  readonly tokens: number[];
  logprob: number;
  isEnded: boolean;
  /** Where it is in its format. */
  readonly matcher: Matcher | undefined;
}

/** Transcribes the window that was encoded last. Errors: those of {@linkcode SpeechNetwork.step}. */
export async function decodeWindow(
  network: SpeechNetwork,
  special: SpecialTokens,
  { before, start, hasTimes, temperature, random, matcher, signal }: WindowRequest,
): Promise<WindowTranscript> {
  const { context, vocabulary } = network.sizes;
  const prompt = promptOf(special, { before, start, hasTimes });
  const most = Math.min(context / 2, context - prompt.length);
  const startAt = prompt.indexOf(special.start);
  const drafts = Array.from(
    { length: temperature > 0 ? MOST_SEQUENCES : 1 },
    (_, slot): Draft => ({ slot, tokens: [], logprob: 0, isEnded: false, matcher: matcher?.() }),
  );
  let noSpeech = 0;
  let last: Float32Array | undefined;
  for (const { slot } of drafts) {
    const outputs = [startAt, prompt.length - 1];
    const logits = await network.step([{ slot, position: 0, tokens: prompt, outputs }], signal);
    const first = logits.subarray(0, vocabulary);
    noSpeech = exponential(first[special.noSpeech] - logSumOfExponentials(first));
    last = logits.subarray(vocabulary);
  }
  const take = (draft: Draft, logits: Float32Array) => {
    const { tokens, matcher } = draft;
    // A format's mask leads to its end in time, and has no special tokens but the end.
    if (matcher) applyMask(logits, matcher.mask({ remaining: most - tokens.length }));
    else applyRules(logits, { tokens, special, hasTimes });
    const token = temperature > 0 ? draw(logits, temperature, random) : mostLikely(logits);
    draft.logprob += logits[token] - logSumOfExponentials(logits);
    matcher?.accept(token);
    if (token === special.end) draft.isEnded = true;
    else draft.tokens.push(token);
    if (draft.tokens.length >= most) draft.isEnded = true;
  };
  for (const draft of drafts) take(draft, last!.slice());
  for (;;) {
    const open = drafts.filter(({ isEnded }) => !isEnded);
    if (open.length === 0) break;
    const runs = open.map(({ slot, tokens }) => ({
      slot,
      position: prompt.length + tokens.length - 1,
      tokens: [tokens.at(-1)!],
    }));
    const logits = await network.step(runs, signal);
    open.forEach((draft, i) => take(draft, logits.subarray(i * vocabulary, (i + 1) * vocabulary)));
  }
  const score = ({ logprob, tokens }: Draft) => logprob / Math.max(1, tokens.length);
  const best = drafts.reduce((best, draft) => score(draft) > score(best) ? draft : best);
  return { tokens: best.tokens, meanLogprob: best.logprob / (best.tokens.length + 1), noSpeech };
}

/** The tokens before a transcript. */
function promptOf(
  special: SpecialTokens,
  { before, start, hasTimes }: Pick<WindowRequest, "before" | "start" | "hasTimes">,
): number[] {
  return [
    ...before.length > 0 ? [special.previous, ...before] : [],
    ...start,
    ...hasTimes ? [] : [special.noTimes],
  ];
}

/**
 * The language of the window that was encoded last, and the probabilities of all languages, the
 * likeliest first. Errors: those of {@linkcode SpeechNetwork.step}.
 */
export async function detectLanguage(
  network: SpeechNetwork,
  special: SpecialTokens,
  signal?: AbortSignal,
): Promise<[language: string, probability: number][]> {
  const run = { slot: 0, position: 0, tokens: [special.start] };
  const logits = await network.step([run], signal);
  const all = [...special.languages].map(([code, token]) => [code, logits[token]] as const);
  const sum = logSumOfExponentials(Float32Array.from(all, ([, logit]) => logit));
  return all.map(([code, logit]): [string, number] => [code, exponential(logit - sum)])
    .sort(([, a], [, b]) => b - a);
}

/** A token by the probabilities of logits that are divided by a temperature. */
function draw(logits: Float32Array, temperature: number, random: () => number): number {
  const heated = logits.map((logit) => logit / temperature);
  const sum = logSumOfExponentials(heated);
  let rest = random();
  for (let token = 0; token < heated.length; token++) {
    rest -= exponential(heated[token] - sum);
    if (rest < 0) return token;
  }
  return mostLikely(logits);
}
