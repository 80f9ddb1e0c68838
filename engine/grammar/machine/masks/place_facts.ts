// What a walk has found out of places in one text: it comes to the same few states and numbers of
// characters from thousands of nodes, and to look a fact up takes a tenth of the time to ask for it.

/** Places that are remembered, a power of two; later ones overwrite earlier ones. */
const PLACES = 4096;

const MASK = PLACES - 1;

/** Spreads places of one state over the table. */
const STRIDE = 389;

/** Nothing was found out yet. */
export const UNKNOWN_PLACE = 0;

/** The text can be completed from there, or cannot. */
export const FEASIBLE = 1;
export const INFEASIBLE = 2;

/** A table of places, each of a state and a number of characters. */
export class PlaceFacts {
  readonly #states = new Int32Array(PLACES).fill(-1);
  readonly #characters = new Int32Array(PLACES);
  /** By row, whether the text can be completed. */
  readonly feasible = new Uint8Array(PLACES);
  /** By row, the bytes of a shortest end; NaN: nobody has asked yet. */
  readonly missing = new Float64Array(PLACES);

  /** The row of a place. Valid until the next call. */
  rowOf(state: number, characters: number): number {
    const row = (state + Math.imul(characters, STRIDE)) & MASK;
    if (this.#states[row] !== state || this.#characters[row] !== characters) {
      this.#states[row] = state;
      this.#characters[row] = characters;
      this.feasible[row] = UNKNOWN_PLACE;
      this.missing[row] = NaN;
    }
    return row;
  }

  /** Forgets all places. */
  clear(): void {
    this.#states.fill(-1);
  }
}
