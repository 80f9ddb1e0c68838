// The transitions of an automaton over bytes: a row of 256 states for each state, in pieces, as it takes
// long to copy one large table whenever it grows.

/** States of a piece, as a power of two. */
const PIECE = 6;

const STATES_MASK = (1 << PIECE) - 1;

/** Where a byte leads that nobody has looked at yet. */
export const UNKNOWN = -1;

/** Where each byte leads from each state; at first {@linkcode UNKNOWN}. */
export class ByteRows {
  readonly #pieces: Int32Array[] = [];

  /** The state that a byte leads to from a state whose row was asked for before. */
  at(state: number, byte: number): number {
    return this.#pieces[state >>> PIECE]![((state & STATES_MASK) << 8) | byte]!;
  }

  /** The row of a state, to be written to. States come one after the other. */
  row(state: number): Int32Array {
    const piece = this.#pieces[state >>> PIECE] ??= new Int32Array(256 << PIECE).fill(UNKNOWN);
    const begin = (state & STATES_MASK) << 8;
    return piece.subarray(begin, begin + 256);
  }
}
