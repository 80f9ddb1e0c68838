// How much longer steps take with drafted tokens than without: another share on every device and for every
// model, so it is measured. Drafts that bring fewer tokens than that are not worth their rows.

/** What a row costs before it is measured: drafts that are half right pay. */
const UNKNOWN = 0.5;

/** How much of an average is the last measurement. */
const NEWEST = 1 / 8;

/** The cost of a drafted token, from the times of steps that feed no prompt. */
export class DraftCost {
  /** Time that a drafted token adds to a step, as a share of what a step takes without: 0 to 1. */
  ofRow = UNKNOWN;
  #plain: number | undefined;
  #ended = 0;

  /**
   * Notes the time of a submit that is over now.
   *
   * @param drafted tokens of drafts in it
   * @param began when it was made, in milliseconds of performance.now()
   */
  measure(drafted: number, repeats: number, began: number): void {
    const now = performance.now();
    // Steps overlap where nobody waits for their tokens.
    const milliseconds = (now - Math.max(began, this.#ended)) / repeats;
    this.#ended = now;
    if (drafted === 0) this.#plain = average(this.#plain, milliseconds);
    else if (this.#plain) {
      const share = (milliseconds / this.#plain - 1) / drafted;
      this.ofRow = average(this.ofRow, Math.min(1, Math.max(0, share)));
    }
  }
}

function average(before: number | undefined, last: number): number {
  return before === undefined ? last : before + (last - before) * NEWEST;
}
