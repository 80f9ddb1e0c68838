// How many rows of prompts go into a step beside sequences that decode, which get a token when it is
// over: as many as the device computes in a moment, by what its last steps with prompts took. Alone,
// prompts are fed in chunks as large as they can be.

/** How long a step may take for which others wait, in milliseconds. */
const MOST_MILLISECONDS = 250;

/** Rows that are always fed, however slow the device: a step with fewer takes hardly less. */
const LEAST_ROWS = 8;

/** Rows before anything was measured. */
const FIRST_ROWS = 64;

/** Measures steps, and says how large the next one may be. */
export class PromptPace {
  readonly #now: () => number;
  #begun = 0;
  #rowMilliseconds: number | undefined;

  /** @param now a clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A step is submitted, and nothing is under way before it. */
  begin(): void {
    this.#begun = this.#now();
  }

  /** A step of so many rows is over; the next one has begun meanwhile, or begin() follows. */
  end(rows: number): void {
    const now = this.#now();
    // What a step with few rows takes says little of one with many.
    if (rows >= LEAST_ROWS) {
      const measured = (now - this.#begun) / rows;
      // One step may have been held up by other work of the machine.
      this.#rowMilliseconds = ((this.#rowMilliseconds ?? measured) + measured) / 2;
    }
    this.#begun = now;
  }

  /** Rows of prompts in a step for which others wait. @param most where nobody waits */
  rowsBeside(most: number): number {
    const fitting = this.#rowMilliseconds === undefined
      ? FIRST_ROWS
      : Math.floor(MOST_MILLISECONDS / this.#rowMilliseconds / LEAST_ROWS) * LEAST_ROWS;
    return Math.min(most, Math.max(LEAST_ROWS, fitting));
  }
}
