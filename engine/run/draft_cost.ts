// The cost of drafts: how much longer a step takes for each drafted token, and how long a draft model
// takes. Both differ by device and model, so they are measured. Drafts that bring fewer tokens than they
// cost are not worth their rows.

/** The cost of a row before it is measured, as a share of a step: drafts that are half right pay. */
const UNKNOWN = 0.5;

/** The cost of a row of a draft model before it is measured: little, so that its drafts are tried. */
const UNKNOWN_WITH_MODEL = 0.1;

/** The share of the last measurement in an average. */
const NEWEST = 1 / 8;

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
   * The same, with the time that a draft model takes for the token: 0 and more; undefined before there was
   * a step without drafts.
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
   * @param began when it was made, in milliseconds of performance.now()
   */
  measure(drafted: number, repeats: number, began: number): void {
    const now = performance.now();
    // Steps may overlap: then only the time since the last one ended counts.
    const milliseconds = (now - Math.max(began, this.#ended)) / repeats;
    this.#ended = now;
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
  return before === undefined ? last : before + (last - before) * NEWEST;
}
