// The merges of byte pair encoding, by the two symbols that they join. A symbol is a token id, or a
// number above all ids for symbols that only occur in merges, because vocabularies lack some pieces
// on the way to longer ones. A hash table over typed arrays, because there are up to half a million
// merges.

import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Odd multipliers with well-spread bits, so that ids close to each other do not collide. */
const LEFT = 0x9e3779b1;
const RIGHT = 0x85ebca6b;

/** The ranks of merges, and their results. */
export class MergeTable {
  readonly #vocabulary: Vocabulary;
  /** Symbols without a token, by text, and the text of each. */
  readonly #others = new Map<string, number>();
  readonly #otherTexts: string[] = [];
  /** Rank at each slot, -1 for a free slot. */
  readonly #slots: Int32Array;
  readonly #shift: number;
  /** For each rank: left symbol, right symbol, result. */
  readonly #triples: Int32Array;

  /** @param merges "left right" in the order of their ranks. Of equal ones the first counts */
  constructor(merges: readonly string[], vocabulary: Vocabulary) {
    const bits = 33 - Math.clz32(merges.length);
    this.#vocabulary = vocabulary;
    this.#slots = new Int32Array(1 << bits).fill(-1);
    this.#shift = 32 - bits;
    this.#triples = new Int32Array(3 * merges.length);
    for (const [rank, merge] of merges.entries()) {
      // From 1 on, because a piece may begin with a space.
      const space = merge.indexOf(" ", 1);
      if (space > 0) this.#add(rank, merge, space);
    }
  }

  /** The symbol of `text`, -1 if neither vocabulary nor merges have it. */
  symbolOf(text: string): number {
    return this.#vocabulary.idOf(text) ?? this.#others.get(text) ?? -1;
  }

  /** The text of a symbol without a token. */
  textOf(symbol: number): string {
    return this.#otherTexts[symbol - this.#vocabulary.size]!;
  }

  /** Rank of joining two symbols, -1 if they are never joined. */
  rankOf(left: number, right: number): number {
    return this.#slots[this.#slotOf(left, right)]!;
  }

  /** The result of the merge of this rank. */
  resultOf(rank: number): number {
    return this.#triples[3 * rank + 2]!;
  }

  #add(rank: number, merge: string, space: number): void {
    const left = this.#obtain(merge, 0, space);
    const right = this.#obtain(merge, space + 1, merge.length);
    const slot = this.#slotOf(left, right);
    if (this.#slots[slot]! >= 0) return;
    const joined = merge.slice(0, space) + merge.slice(space + 1);
    this.#slots[slot] = rank;
    this.#triples[3 * rank] = left;
    this.#triples[3 * rank + 1] = right;
    this.#triples[3 * rank + 2] = this.#obtain(joined, 0, joined.length);
  }

  /** The symbol of `line[start, end)`, a new one if it has none. */
  #obtain(line: string, start: number, end: number): number {
    const token = this.#vocabulary.find(line, start, end);
    // Text that is spelled like a control piece is not that piece.
    if (token >= 0 && !this.#vocabulary.isReserved(token)) return token;
    const text = line.slice(start, end);
    const known = this.#others.get(text);
    if (known !== undefined) return known;
    const symbol = this.#vocabulary.size + this.#otherTexts.push(text) - 1;
    this.#others.set(text, symbol);
    return symbol;
  }

  #slotOf(left: number, right: number): number {
    const slots = this.#slots;
    const triples = this.#triples;
    const mask = slots.length - 1;
    let slot = Math.imul(Math.imul(left, LEFT) ^ right, RIGHT) >>> this.#shift;
    for (;; slot = slot + 1 & mask) {
      const rank = slots[slot]!;
      if (rank < 0 || (triples[3 * rank] === left && triples[3 * rank + 1] === right)) return slot;
    }
  }
}
