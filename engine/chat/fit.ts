// Finds how many of the oldest turns have to be dropped so that a conversation fits a window. A turn
// goes as a whole, so that no result of a tool stays without its call, and no answer without its
// question. Rendering and encoding take time in proportion to the length, so not every number is
// tried: each measurement tells where to measure next (regula falsi, with bisection where that
// stalls).

/** The size of a conversation without some of its oldest turns. */
export interface Measured {
  readonly tokens: number;
  readonly fits: boolean;
}

/** The length of a message. */
interface Weighed {
  readonly role: string;
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
 * The turns of a conversation, the oldest first, as indexes of messages: a user's message with all
 * that follows it up to the next one. What comes before the first is a turn, too; system messages are
 * in none.
 */
export function turnsOf(messages: readonly Weighed[]): number[][] {
  const turns: number[][] = [];
  for (const [index, { role }] of messages.entries()) {
    if (role === "system") continue;
    if (role === "user" || turns.length === 0) turns.push([]);
    turns.at(-1)!.push(index);
  }
  return turns;
}

/**
 * The fewest turns, the oldest first, without which a conversation fits; undefined if it does not
 * fit even without all of them. Takes a handful of measurements.
 *
 * @param turns units of text of those that may be dropped
 * @param kept units of text that stay
 * @param limit number of tokens that does not fit any more
 * @param measure measures the conversation without a number of turns
 */
export function fewestToDrop(
  turns: readonly number[],
  kept: number,
  limit: number,
  measure: (dropped: number) => Measured,
): number | undefined {
  /** Units of text in the first turns, by their number. */
  const gone = [0];
  for (const units of turns) gone.push(gone.at(-1)! + units);
  const all = kept + gone.at(-1)!;
  // Dropping `low` is too few, and dropping `high` fits.
  let [low, high] = [-1, gone.length];
  let [ratio, tokens, at] = [FIRST_GUESS, all * FIRST_GUESS, 0];
  let next = all * FIRST_GUESS > FAR_TOO_LONG * limit ? guess() : 0;
  for (let round = 1; high - low > 1; round++) {
    at = Math.min(Math.max(next, low + 1), high - 1);
    const measured = measure(at);
    if (measured.fits) high = at;
    else low = at;
    ({ tokens } = measured);
    const text = all - gone[at]!;
    if (text > 0) ratio = tokens / text;
    next = round % 3 === 0 ? (low + high) >> 1 : guess();
  }
  return high < gone.length ? high : undefined;

  /** The number at which the tokens would fall below the limit, by linear interpolation. */
  function guess(): number {
    const wanted = gone[at]! + (tokens - limit + 1) / ratio;
    const found = gone.findIndex((units) => units >= wanted);
    return found < 0 ? gone.length - 1 : found;
  }
}

/** UTF-16 units of messages, with about what a template adds to each. */
export function unitsOf(messages: readonly Weighed[]): number {
  return messages.reduce(
    (sum, { content, thinking = "" }) => sum + content.length + thinking.length + UNITS_AROUND,
    0,
  );
}
