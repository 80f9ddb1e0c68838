// Members of a set that are written as the schema writes them, such as 1.0, 1e21 and -0 in an enum:
// the characters so far, beside the reading of all other members.

import { Decimal } from "../json/mod.ts";
import type { Reading } from "./exponent.ts";
import { Multiples } from "./multiples.ts";
import type { NumberSet } from "./number_set.ts";

/** The texts of those members without neighbouring members that have a text of their own. */
export function writtenMembers(set: NumberSet): Decimal[] {
  const { cuts, at, between } = set;
  return cuts.filter((place, index) =>
    at[index] && place.written !== undefined &&
    between[index] === Multiples.none && between[index + 1] === Multiples.none
  );
}

/** A number as far as it is written, where texts are given that it may be. */
export class Written implements Reading {
  readonly #texts: readonly string[];
  /** The texts from `low` to before `high` begin with the `length` characters so far. */
  readonly #low: number;
  readonly #high: number;
  readonly #length: number;
  readonly #others: Reading | undefined;
  readonly key: string;
  readonly shortest: number;

  /**
   * @param texts in ascending order
   * @param others the other members; undefined if there are none
   */
  constructor(
    texts: readonly string[],
    others: Reading | undefined,
    [low, high, length] = [0, texts.length, 0],
  ) {
    this.#texts = texts;
    [this.#low, this.#high, this.#length] = [low, high, length];
    this.#others = others;
    this.key = `written ${low} ${high} ${length} ${others?.key}`;
    let shortest = others?.shortest ?? Infinity;
    for (let index = low; index < high; index++) {
      shortest = Math.min(shortest, texts[index]!.length - length);
    }
    this.shortest = shortest;
  }

  get accepts(): boolean {
    return this.#others?.accepts === true || this.#texts[this.#low]?.length === this.#length;
  }

  get isLive(): boolean {
    return this.#low < this.#high || this.#others?.isLive === true;
  }

  next(character: string): Reading | undefined {
    const others = this.#others?.next(character);
    const low = this.#first((next) => next >= character);
    const high = this.#first((next) => next > character);
    if (low === high) return others;
    return new Written(this.#texts, others, [low, high, this.#length + 1]);
  }

  /** The first text whose next character is that far in the order; a text that ends comes first. */
  #first(isThere: (next: string) => boolean): number {
    let [low, high] = [this.#low, this.#high];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isThere(this.#texts[middle]![this.#length] ?? "")) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
