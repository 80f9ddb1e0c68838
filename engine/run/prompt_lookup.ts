// Drafts of the next tokens of a sequence: where its last tokens stood before, in the prompt or in the
// answer, what followed them then may follow again (prompt lookup decoding, Saxena 2023). A step checks a
// whole draft at once, and a wrong one changes nothing but the time: texts that are edited or quoted come
// several tokens a step. A draft is as long as what stood before alike, and where drafts have cost more
// than they gave they are made seldom, so that other texts lose next to nothing.

/** Tokens that have to stand before for what followed them to be a draft. */
const MATCH = 3;

/** Tokens of a draft: at first, and at most. With the token before them a step has 16 rows. */
const FIRST_LENGTH = 3;
const MOST_LENGTH = 15;

/** Tokens without drafts after the first failure; each further one doubles them. */
const FIRST_PAUSE = 8;
const MOST_PAUSE = 512;

/** What a row costs where that is not measured: drafts that are half right pay. */
const ROW_COST = 0.5;

/** The drafts of one sequence. */
export class PromptLookup {
  /** By their last MATCH tokens: the position after them, the latest that is not the end. */
  readonly #following = new Map<number, number>();
  #indexed = MATCH;
  #length = FIRST_LENGTH;
  #pause = FIRST_PAUSE;
  /** Length of the sequence from which drafts are made again. */
  #resumes = 0;

  /** What may follow these tokens, the sequence's so far: at most `most`, nothing where nothing is known. */
  draft(tokens: readonly number[], most: number): number[] {
    if (tokens.length < Math.max(MATCH, this.#resumes)) return [];
    const at = this.#find(tokens);
    if (at === undefined) return [];
    const draft: number[] = [];
    const length = Math.min(most, Math.max(this.#length, alike(tokens, at)));
    // Past the end, what comes is the draft itself: a text that goes around in a short circle.
    while (draft.length < length) {
      const next = at + draft.length;
      draft.push(next < tokens.length ? tokens[next] : draft[next - tokens.length]);
    }
    return draft;
  }

  /**
   * Learns how many tokens of a draft were right.
   *
   * @param tokens the sequence's after it
   * @param rowCost time that a row of a draft adds to a step, as a share of what a step takes without
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

  /** Where the last tokens stood before: the position after them. */
  #find(tokens: readonly number[]): number | undefined {
    const { length } = tokens;
    for (; this.#indexed < length; this.#indexed++) {
      this.#following.set(hash(tokens, this.#indexed), this.#indexed);
    }
    const at = this.#following.get(hash(tokens, length));
    return at !== undefined && alike(tokens, at) >= MATCH ? at : undefined;
  }
}

/** How many tokens before a position are those at the end: as far as a draft can be long. */
function alike(tokens: readonly number[], position: number): number {
  const { length } = tokens;
  const most = Math.min(position, MOST_LENGTH);
  let count = 0;
  while (count < most && tokens[position - 1 - count] === tokens[length - 1 - count]) count++;
  return count;
}

/** Of the tokens before a position. Two may be alike; the tokens themselves decide. */
function hash(tokens: readonly number[], position: number): number {
  let value = 17;
  for (let i = 1; i <= MATCH; i++) value = Math.imul(value ^ tokens[position - i], 0x01000193);
  return value;
}
