// How many of the oldest messages have to go so that a conversation fits a window. Rendering and
// encoding one is the work of its length, so the answer is not looked for one message after the
// other: what was measured tells where to measure next (regula falsi, halving where that stalls).

/** What a conversation without some of its oldest messages comes to. */
export interface Measured {
  /** Its tokens, if it has a prompt: a template may refuse one that begins in the middle. */
  readonly tokens?: number | undefined;
  readonly fits: boolean;
}

/** A message as it is weighed. */
interface Weighed {
  readonly content: string;
  readonly thinking?: string | undefined;
}

/** What a template writes around a message, in units of text. */
const UNITS_AROUND = 16;

/** Tokens per unit of text before anything is measured. */
const FIRST_GUESS = 0.25;

/** A conversation so many times the window, by the first guess, is not measured as a whole. */
const FAR_TOO_LONG = 4;

/**
 * The fewest of `messages`, the oldest first, without which a conversation fits; undefined where it
 * does not even without all of them. Takes a handful of measurements.
 *
 * @param messages those that may go
 * @param kept UNITS of text that stay @param limit tokens that do not fit any more
 * @param measure what the conversation without so many of them comes to
 */
export function fewestToDrop(
  messages: readonly Weighed[],
  kept: number,
  limit: number,
  measure: (dropped: number) => Measured,
): number | undefined {
  /** Units of text that go with so many messages. */
  const gone = [0];
  for (const { content, thinking = "" } of messages) {
    gone.push(gone.at(-1)! + content.length + thinking.length + UNITS_AROUND);
  }
  const all = kept + gone.at(-1)!;
  // Dropping `low` is too few, dropping `best` fits, and what is between `high` and it is refused.
  let [low, high, best] = [-1, gone.length, undefined as number | undefined];
  let [ratio, tokens, at] = [FIRST_GUESS, all * FIRST_GUESS, 0];
  let next = all * FIRST_GUESS > FAR_TOO_LONG * limit ? guess() : 0;
  for (let round = 1; high - low > 1; round++) {
    const start = Math.min(Math.max(next, low + 1), high - 1);
    let [dropped, measured] = [start, measure(start)];
    while (measured.tokens === undefined && !measured.fits && dropped + 1 < high) {
      measured = measure(++dropped);
    }
    if (measured.fits) [best, high] = [dropped, start];
    else if (measured.tokens === undefined) high = start;
    else low = dropped;
    if (measured.tokens !== undefined) {
      const text = all - gone[dropped]!;
      if (text > 0) ratio = measured.tokens / text;
      [tokens, at] = [measured.tokens, dropped];
    }
    next = round % 3 === 0 ? (low + high) >> 1 : guess();
  }
  return best;

  /** Where the tokens would come below the limit, if text went on as it was measured. */
  function guess(): number {
    const wanted = gone[at]! + (tokens - limit + 1) / ratio;
    const found = gone.findIndex((units) => units >= wanted);
    return found < 0 ? gone.length - 1 : found;
  }
}
