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

// The cost of drafts: how much longer a step takes for each drafted token, and how long a draft model
// takes. Both differ by device and model, so they are measured. Drafts that bring fewer tokens than they
// cost are not worth their rows.

/** The cost of a row before it is measured, as a share of a step: drafts that are half right pay. */
const UNKNOWN = 0.5;

/** The cost of a row of a draft model before it is measured: little, so that its drafts are tried. */
const UNKNOWN_WITH_MODEL = 0.1;

/** The share of the last measurement in an average. */
const NEWEST_COST = 1 / 8;

/** The cost of a drafted token, from the times of steps that feed no prompt. */
export class DraftCost {
  #row: number | undefined;
  #plain: number | undefined;
  #drafting: number | undefined;
  #ended = 0;

  /** Time that a drafted token adds to a step, as a share of what a step takes without: 0 to 1. */
  get ofRow(): number {
    return this.#row ?? UNKNOWN;
  }

  /**
   * That share with the time that a draft model takes for the token: 0 and more; undefined before
   * there was a step without drafts.
   */
  get withModel(): number | undefined {
    if (this.#plain === undefined) return undefined;
    const model = this.#plain && this.#drafting ? this.#drafting / this.#plain : UNKNOWN_WITH_MODEL;
    return (this.#row ?? UNKNOWN_WITH_MODEL) + model;
  }

  /**
   * Notes the time of a submit that is over now.
   *
   * @param drafted tokens of drafts in it
   * @param began when it was made, and `ended` when it was over, in milliseconds
   */
  measure(drafted: number, repeats: number, began: number, ended: number): void {
    // Steps may overlap: then only the time since the last one ended counts.
    const milliseconds = (ended - Math.max(began, this.#ended)) / repeats;
    this.#ended = ended;
    if (drafted === 0) this.#plain = average(this.#plain, milliseconds);
    else if (this.#plain) {
      const share = (milliseconds / this.#plain - 1) / drafted;
      this.#row = average(this.ofRow, Math.min(1, Math.max(0, share)));
    }
  }

  /** Notes the time that a draft model took for a number of steps, each a token of each sequence. */
  measureDrafting(steps: number, milliseconds: number): void {
    if (steps > 0) this.#drafting = average(this.#drafting, milliseconds / steps);
  }
}

function average(before: number | undefined, last: number): number {
  return before === undefined ? last : before + (last - before) * NEWEST_COST;
}
