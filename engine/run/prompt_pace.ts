// The number of prompt rows in a step beside sequences that decode, which wait for the step's end. A step
// takes as long as one that only decodes, and a time for each prompt row, both measured. So many rows are
// fed that nobody should wait 150 ms for a token (`bench:gaps` measures it): fewer if the thread did other
// work since the last tokens. If nothing decodes, prompts are fed in the largest chunks.

/** Milliseconds for which a step beside sequences that decode is planned: what the clock tells varies. */
const STEP_MILLISECONDS = 100;

/** Milliseconds from one token to the next at most, as far as the clock tells it. */
const TOKEN_MILLISECONDS = 140;

/** Rows that are always fed, however slow the device is, and before anything was measured. */
const LEAST_ROWS = 4;

/** How many times the rows of a step the next one has at most: few rows tell little about many. */
const MOST_GROWTH = 4;

/**
 * Rows by which a step grows however little time it has left. The time of rows is a staircase, since
 * kernels multiply so many at a time: where rows that fit took 12 ms, one more may take 60.
 */
const LEAST_GROWTH = 2;

/** How much longer than planned a step takes that has too many rows. */
const TOO_LONG = 1.2;

/** Steps for which as many rows are not fed again. */
const REMEMBERED_STEPS = 32;

/** Positions up to which a row takes nearly the same time, whatever the model. */
const SHORT_CONTEXT = 1024;

/** Milliseconds that a clock may not tell from none. */
const CLOCK_STEP = 0.1;

/** The sizes of a step. */
export interface PacedStep {
  /** Rows of prompts and drafts: none in a step that only decodes. */
  readonly rows: number;
  /** Positions before the furthest of these rows. */
  readonly context: number;
}

/** The measurement of steps beside sequences that decode, and the size of the next one. */
export class PromptPace {
  /** Milliseconds of a step without such rows. */
  #decodeMilliseconds: number | undefined;
  /** The last rows that were measured, and the milliseconds of each. */
  #measured: { rows: number; context: number; rowMilliseconds: number } | undefined;
  /** The most rows that took no longer than planned, and the milliseconds of their step. */
  #fitting = { rows: 0, milliseconds: Infinity };
  /** More rows, which took too long, and for how many steps that counts. */
  #tooMany: { rows: number; steps: number } | undefined;

  /** @param stepMilliseconds how long a step is to take */
  constructor(readonly stepMilliseconds = STEP_MILLISECONDS) {}

  /** Notes how long a step took beside sequences that decode. */
  measured({ rows, context }: PacedStep, milliseconds: number): void {
    if (rows === 0) this.#decodeMilliseconds = mean(this.#decodeMilliseconds, milliseconds);
    if (rows < LEAST_ROWS) return;
    const added = Math.max(CLOCK_STEP, milliseconds - (this.#decodeMilliseconds ?? 0));
    const rowMilliseconds = mean(this.#expected(context), added / rows);
    this.#measured = { rows, context, rowMilliseconds };
    if (this.#tooMany && --this.#tooMany.steps === 0) this.#tooMany = undefined;
    if (rows < this.#fitting.rows) return;
    // A step that was long and had as many rows as others was held up by something else.
    const isMore = rows > this.#fitting.rows;
    if (milliseconds <= this.stepMilliseconds) this.#fitting = { rows, milliseconds };
    else if (isMore && milliseconds > TOO_LONG * this.stepMilliseconds) {
      this.#tooMany = { rows, steps: REMEMBERED_STEPS };
    }
  }

  /**
   * Most such rows of the next step, if sequences decode.
   *
   * @param step with the rows if none did
   * @param waited milliseconds for which the device was idle since they got their last tokens
   */
  rowsBeside({ rows: most, context }: PacedStep, waited = 0): number {
    const milliseconds = this.#expected(context);
    if (milliseconds === undefined) return Math.min(most, LEAST_ROWS);
    const step = Math.min(this.stepMilliseconds, TOKEN_MILLISECONDS - waited);
    const left = step - (this.#decodeMilliseconds ?? 0);
    const known = (this.#tooMany?.rows ?? Infinity) - 1;
    const fitting = Math.min(left / milliseconds, this.#grown(), known);
    return Math.min(most, Math.max(LEAST_ROWS, Math.floor(fitting)));
  }

  /** Most rows that may fit, by those that did: as many more as the whole step has time left. */
  #grown(): number {
    const { rows, milliseconds } = this.#fitting;
    const growth = Math.min(MOST_GROWTH, this.stepMilliseconds / milliseconds);
    return Math.max(rows + LEAST_GROWTH, rows * growth);
  }

  /** Milliseconds that a row takes after so many positions, which is at most in proportion to them. */
  #expected(context: number): number | undefined {
    if (!this.#measured) return undefined;
    const { context: measured, rowMilliseconds } = this.#measured;
    const further = (context + SHORT_CONTEXT) / (measured + SHORT_CONTEXT);
    return rowMilliseconds * Math.max(1, further);
  }
}

/** The mean of what is known and what was measured now: other work may have held one step up. */
function mean(known: number | undefined, measured: number): number {
  return ((known ?? measured) + measured) / 2;
}
