// The words of a window's segments with their times, and what follows from them for the segments. Words
// that were stretched over a pause are cut, by OpenAI's own rules: at most twice as long as the median.

import type { TranscriptWord } from "../types/mod.ts";
import { TIME_STEP } from "./special_tokens.ts";
import { joinMarks, type Word } from "./words.ts";

/** A word, and when it was spoken, in seconds. */
export interface TimedWord extends Word {
  start: number;
  end: number;
  readonly probability: number;
}

/** A part of a transcript, in seconds. */
export interface TimedSegment {
  readonly start: number;
  readonly end: number;
  /** Tokens of words alone. */
  readonly tokens: readonly number[];
}

/** A segment with its words. */
export interface SegmentWords {
  readonly start: number;
  readonly end: number;
  readonly words: TranscriptWord[];
}

/** Longest median of the words' lengths, in seconds. */
const MOST_MEDIAN = 0.7;

/** Seconds by which a segment's own time must differ for it to be believed. */
const APART = 0.5;

const ENDS_OF_SENTENCES = ".。!！?？";

/**
 * Words with their times, from those at which their tokens begin.
 *
 * @param rows the encoder's row at which each token begins; one more for the end
 * @param probabilities of the tokens
 */
export function timeWords(
  words: readonly Word[],
  rows: ArrayLike<number>,
  probabilities: ArrayLike<number>,
): TimedWord[] {
  let first = 0;
  return words.map(({ text, tokens }) => {
    const [from, end] = [first, first += tokens.length];
    let sum = 0;
    for (let token = from; token < end; token++) sum += probabilities[token];
    return {
      text,
      tokens,
      start: rows[from] * TIME_STEP,
      end: rows[end] * TIME_STEP,
      probability: sum / tokens.length,
    };
  });
}

/**
 * Gives each segment its words, and itself the times of its first and its last one.
 *
 * @param segments in seconds of the whole sound, as the results are
 * @param words of all segments, none in two of them, in seconds from `offset` on
 * @param lastSpoken when the words before ended
 */
export function assignWords(
  segments: readonly TimedSegment[],
  words: readonly TimedWord[],
  { offset, lastSpoken }: { offset: number; lastSpoken: number },
): SegmentWords[] {
  const median = Math.min(MOST_MEDIAN, medianLength(words));
  const most = 2 * median;
  const cut = cutAtSentences(words, most);
  let next = 0;
  let last = lastSpoken;
  return segments.map((segment) => {
    const first = next;
    for (let taken = 0; taken < segment.tokens.length; next++) taken += cut[next].tokens.length;
    const own = joinMarks(cut.slice(first, next)).map((
      { start, end, text, probability },
    ): TranscriptWord => ({
      start: hundredths(offset + start),
      end: hundredths(offset + end),
      text,
      probability,
    }));
    const times = cutAtEnds(segment, own, { median, most, last });
    if (own.length > 0) last = times.end;
    return { ...times, words: own };
  });
}

/** Cuts long marks that end a sentence, and long words behind them. */
function cutAtSentences(words: readonly TimedWord[], most: number): TimedWord[] {
  const cut = words.map((word) => ({ ...word }));
  const ends = ({ text }: Word) => ENDS_OF_SENTENCES.includes(text);
  for (let i = 1; i < cut.length; i++) {
    const word = cut[i];
    if (word.end - word.start <= most) continue;
    if (ends(word)) word.end = word.start + most;
    else if (ends(cut[i - 1])) word.start = word.end - most;
  }
  return cut;
}

/** Cuts the first and the last word of a segment, in place. Gives the segment's times. */
function cutAtEnds(
  segment: TimedSegment,
  words: TranscriptWord[],
  { median, most, last }: { median: number; most: number; last: number },
): { start: number; end: number } {
  let { start, end } = segment;
  if (words.length === 0) return { start, end };
  const [first, second] = words;
  const final = words.at(-1)!;
  const length = (from: TranscriptWord, to = from) => to.end - from.start;
  const isLong = length(first) > most || second && length(first, second) > 2 * most;
  if (first.end - last > 4 * median && isLong) {
    if (second && length(second) > most) {
      first.end = second.start = Math.max(second.end / 2, second.end - most);
    }
    first.start = Math.max(0, first.end - most);
  }
  if (start < first.end && start - APART > first.start) {
    first.start = Math.max(0, Math.min(first.end - median, start));
  } else start = first.start;
  if (end > final.start && end + APART < final.end) {
    final.end = Math.max(final.start + median, end);
  } else end = final.end;
  return { start, end };
}

/** The median of the words' lengths, without those of no length. */
function medianLength(words: readonly TimedWord[]): number {
  const lengths = words.map(({ start, end }) => end - start).filter((length) => length !== 0)
    .sort((a, b) => a - b);
  if (lengths.length === 0) return 0;
  const half = lengths.length / 2;
  return (lengths[Math.ceil(half) - 1] + lengths[Math.floor(half)]) / 2;
}

function hundredths(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
