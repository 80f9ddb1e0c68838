// The number of prompt rows in a step beside sequences that decode, which wait for the step's end: as
// many as the device computes in a fixed time, estimated from its last steps with prompts. If nothing
// decodes, prompts are fed in the largest chunks.

/** Milliseconds that a step may take while sequences decode. */
const MOST_MILLISECONDS = 250;

/** Rows that are always allowed, however slow the device is: a step with fewer is hardly shorter. */
const LEAST_ROWS = 8;

/** Rows before anything was measured. */
const FIRST_ROWS = 64;

/** The measurement of steps, and the size of the next one that follows from it. */
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

  /** A step of this number of rows has ended; the next one has begun already, or begin() follows. */
  end(rows: number): void {
    const now = this.#now();
    // The time of a step with few rows tells little about one with many.
    if (rows >= LEAST_ROWS) {
      const measured = (now - this.#begun) / rows;
      // One step may have been held up by other work of the machine.
      this.#rowMilliseconds = ((this.#rowMilliseconds ?? measured) + measured) / 2;
    }
    this.#begun = now;
  }

  /** Prompt rows of a step while sequences decode. @param most the number if nothing decodes */
  rowsBeside(most: number): number {
    const fitting = this.#rowMilliseconds === undefined
      ? FIRST_ROWS
      : Math.floor(MOST_MILLISECONDS / this.#rowMilliseconds / LEAST_ROWS) * LEAST_ROWS;
    return Math.min(most, Math.max(LEAST_ROWS, fitting));
  }
}
