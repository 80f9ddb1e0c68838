// Finds how many of the oldest messages have to be dropped so that a conversation fits a window.
// Rendering and encoding take time in proportion to the length, so not every number is tried: each
// measurement tells where to measure next (regula falsi, with bisection where that stalls).

/** The size of a conversation without some of its oldest messages. */
export interface Measured {
  /**
   * Its tokens; undefined if it has no prompt, because a template may refuse one that begins in the
   * middle.
   */
  readonly tokens?: number | undefined;
  readonly fits: boolean;
}

/** The length of a message. */
interface Weighed {
  readonly content: string;
  readonly thinking?: string | undefined;
}

/** The text that a template adds to a message, in units of text; an estimate. */
const UNITS_AROUND = 16;

/** Tokens per unit of text before anything is measured; an estimate. */
const FIRST_GUESS = 0.25;

/**
 * A conversation that is this many times the window, by the first estimate, is not measured as a
 * whole.
 */
const FAR_TOO_LONG = 4;

/**
 * The fewest of `messages`, the oldest first, without which a conversation fits; undefined if it
 * does not fit even without all of them. Takes a handful of measurements.
 *
 * @param messages those that may be dropped
 * @param kept units of text that stay
 * @param limit number of tokens that does not fit any more
 * @param measure measures the conversation without a number of messages
 */
export function fewestToDrop(
  messages: readonly Weighed[],
  kept: number,
  limit: number,
  measure: (dropped: number) => Measured,
): number | undefined {
  /** Units of text in the first messages, by their number. */
  const gone = [0];
  for (const { content, thinking = "" } of messages) {
    gone.push(gone.at(-1)! + content.length + thinking.length + UNITS_AROUND);
  }
  const all = kept + gone.at(-1)!;
  // Dropping `low` is too few, dropping `best` fits, and numbers between `high` and it are refused.
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

  /** The number at which the tokens would fall below the limit, by linear interpolation. */
  function guess(): number {
    const wanted = gone[at]! + (tokens - limit + 1) / ratio;
    const found = gone.findIndex((units) => units >= wanted);
    return found < 0 ? gone.length - 1 : found;
  }
}

/** UTF-16 units of all messages. */
export function unitsOf(messages: readonly Weighed[]): number {
  return messages.reduce(
    (sum, { content, thinking = "" }) => sum + content.length + thinking.length,
    0,
  );
}
