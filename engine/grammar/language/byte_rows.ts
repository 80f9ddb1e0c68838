// The transitions of an automaton over bytes: for each state a row of 256 states. Rows are
// allocated in pieces, because copying one large table whenever it grows takes long.

/** States of a piece, as a power of two. */
const PIECE = 6;

const STATES_MASK = (1 << PIECE) - 1;

/** A transition that has not been computed yet. */
export const UNKNOWN = -1;

/** The table of transitions; new ones are {@linkcode UNKNOWN}. */
export class ByteRows {
  readonly #pieces: Int32Array[] = [];

  /** The state after a byte. The state's row must have been requested before. */
  at(state: number, byte: number): number {
    return this.#pieces[state >>> PIECE]![((state & STATES_MASK) << 8) | byte]!;
  }

  /** The row of a state, for writing. States must be requested in order. */
  row(state: number): Int32Array {
    const piece = this.#pieces[state >>> PIECE] ??= new Int32Array(256 << PIECE).fill(UNKNOWN);
    const begin = (state & STATES_MASK) << 8;
    return piece.subarray(begin, begin + 256);
  }
}
