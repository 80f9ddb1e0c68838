// Prompt lookup decoding (Saxena 2023): if the last tokens of a sequence occurred earlier, in the prompt
// or in the answer, the tokens that followed then are drafted. A step checks a whole draft at once, and a
// wrong one only costs time, so texts that are edited or quoted get several tokens per step. A draft is
// as long as the match before it. Drafts that cost more than they bring pause, so that other texts lose
// next to nothing.

/** Number of last tokens that have to occur earlier. */
const MATCH = 3;

/** Tokens of the first draft, and of the longest: with the token before it, a step has 16 rows. */
const FIRST_LENGTH = 3;
const MOST_LENGTH = 15;

/** Tokens without drafts after the first failure; each further one doubles them. */
const FIRST_PAUSE = 8;
const MOST_PAUSE = 512;

/** The cost of a row before it is measured, as a share of a step: drafts that are half right pay. */
const ROW_COST = 0.5;

/** The drafts of one sequence. */
export class PromptLookup {
  /** The last position after each MATCH tokens, by their hash; without the end of the sequence. */
  readonly #following = new Map<number, number>();
  #indexed = MATCH;
  #length = FIRST_LENGTH;
  #pause = FIRST_PAUSE;
  /** Length of the sequence from which drafts are made again. */
  #resumes = 0;

  /** The draft after the tokens of a sequence, at most `most`; empty if the last ones did not occur earlier. */
  draft(tokens: readonly number[], most: number): number[] {
    if (tokens.length < Math.max(MATCH, this.#resumes)) return [];
    const at = this.#find(tokens);
    if (at === undefined) return [];
    const draft: number[] = [];
    const length = Math.min(most, Math.max(this.#length, alike(tokens, at)));
    // A text that repeats itself with a short period: past its end, the draft continues with itself.
    while (draft.length < length) {
      const next = at + draft.length;
      draft.push(next < tokens.length ? tokens[next] : draft[next - tokens.length]);
    }
    return draft;
  }

  /**
   * Learns how many tokens of a draft were right.
   *
   * @param tokens those of the sequence after the draft was checked
   * @param rowCost time that a row of a draft adds to a step, as a share of a step without drafts
   */
  learn(
    tokens: readonly number[],
    drafted: number,
    accepted: number,
    rowCost: number = ROW_COST,
  ): void {
    if (accepted === drafted) this.#length = Math.min(MOST_LENGTH, 2 * this.#length + 1);
    else this.#length = Math.max(FIRST_LENGTH, Math.min(this.#length, 2 * accepted));
    if (accepted >= drafted * rowCost) {
      this.#pause = FIRST_PAUSE;
      return;
    }
    this.#resumes = tokens.length + this.#pause;
    this.#pause = Math.min(MOST_PAUSE, 2 * this.#pause);
  }

  /** The position after the earlier occurrence of the last tokens; undefined if there is none. */
  #find(tokens: readonly number[]): number | undefined {
    const { length } = tokens;
    for (; this.#indexed < length; this.#indexed++) {
      this.#following.set(hash(tokens, this.#indexed), this.#indexed);
    }
    const at = this.#following.get(hash(tokens, length));
    return at !== undefined && alike(tokens, at) >= MATCH ? at : undefined;
  }
}

/** Length of the match between the tokens before a position and those at the end, at most MOST_LENGTH. */
function alike(tokens: readonly number[], position: number): number {
  const { length } = tokens;
  const most = Math.min(position, MOST_LENGTH);
  let count = 0;
  while (count < most && tokens[position - 1 - count] === tokens[length - 1 - count]) count++;
  return count;
}

/** A hash of the MATCH tokens before a position. Matches are checked, so collisions do no harm. */
function hash(tokens: readonly number[], position: number): number {
  let value = 17;
  for (let i = 1; i <= MATCH; i++) value = Math.imul(value ^ tokens[position - i], 0x01000193);
  return value;
}
