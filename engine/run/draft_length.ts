// How long the drafts of a draft model are. The length follows from the share of tokens that were right
// and from the measured cost of a token. Drafts that cost more than they bring pause, with a try of one
// token now and then, and so do those for which there is no memory.

/** Tokens of a draft at most, where a request says nothing; Ollama's default of draft_num_predict. */
const MOST_TOKENS = 4;

/** The share of right tokens that is assumed before any draft was checked, as if so many tokens were. */
const FIRST_SHARE = 0.7;
const FIRST_WEIGHT = 4;

/** The least share of the last checked token in the average. */
const NEWEST = 1 / 16;

/** Tokens without drafts after they ceased to pay or had no memory; each further pause is twice as long. */
const FIRST_PAUSE = 16;
const MOST_PAUSE = 512;

/** Drafts after which a step without one follows, to measure the time of such a step. */
const DRAFTS_IN_A_ROW = 64;

/** How many tokens are drafted for one sequence at a time. */
export class DraftLength {
  readonly #cost: () => number | undefined;
  readonly #fixed: number | undefined;
  /** The average share of right tokens, among those whose predecessors in the draft were right. */
  #share = FIRST_SHARE;
  #checked = FIRST_WEIGHT;
  #pause = FIRST_PAUSE;
  #inARow = 0;
  /** Length of the sequence from which drafts are made again. */
  #resumes = 0;

  /**
   * @param cost time that a drafted token takes, as a share of a step without drafts; undefined before
   *   there was such a step
   * @param fixed the number that the request asks for, whether drafts pay off or not
   */
  constructor(cost: () => number | undefined, fixed?: number) {
    this.#cost = cost;
    this.#fixed = fixed;
  }

  /** Tokens to draft for a sequence of `length` tokens; 0: none now. */
  at(length: number): number {
    if (length < this.#resumes) return 0;
    if (this.#fixed !== undefined) return this.#fixed;
    const cost = this.#cost();
    if (cost === undefined) return 0;
    // After a pause a token shows whether they pay again.
    return this.#best(cost) || 1;
  }

  /** Learns how many tokens of a draft were right. @param length tokens of the sequence after it */
  learn(length: number, drafted: number, accepted: number): void {
    if (this.#fixed !== undefined) {
      this.#pause = FIRST_PAUSE;
      return;
    }
    for (let i = 0; i < Math.min(drafted, accepted + 1); i++) {
      const weight = Math.max(NEWEST, 1 / ++this.#checked);
      this.#share += ((i < accepted ? 1 : 0) - this.#share) * weight;
    }
    const cost = this.#cost() ?? 0;
    // A try that was right is followed by another one, unless right tokens too cost more than they bring.
    const isTrying = accepted === drafted && cost < 1;
    if (isTrying || this.#best(cost) > 0) {
      this.#pause = FIRST_PAUSE;
      if (++this.#inARow % DRAFTS_IN_A_ROW === 0) this.#resumes = length + 1;
    } else {
      this.pause(length);
    }
  }

  /**
   * Makes no drafts for a while, longer each time until one pays. Meanwhile steps need not wait for the
   * tokens of those before.
   *
   * @param length tokens of the sequence now
   */
  pause(length: number): void {
    this.#resumes = length + this.#pause;
    this.#pause = Math.min(MOST_PAUSE, 2 * this.#pause);
  }

  /** The length with the most tokens per time; 0 where steps without drafts have more. */
  #best(cost: number): number {
    let [best, most] = [0, 1];
    // A draft of n tokens gives one token and each of the n that is right, as all before it are.
    for (let n = 1, tokens = 1, right = 1; n <= MOST_TOKENS; n++) {
      right *= this.#share;
      tokens += right;
      const rate = tokens / (1 + n * cost);
      if (rate > most) [best, most] = [n, rate];
    }
    return best;
  }
}
