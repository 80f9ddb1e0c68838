// Members of a set that are written as the schema writes them, such as 1.0, 1e21 and -0 in an enum:
// the characters so far, beside the reading of all other members. And the members that readers of
// doubles take for members as well.

import { Decimal } from "../json/mod.ts";
import type { Reading } from "./mantissa.ts";
import { Multiples } from "./multiples.ts";
import {
  exactly,
  integers,
  intersect,
  interval,
  isEmptyNumbers,
  NumberSet,
  union,
} from "./number_set.ts";

/** The texts of those members without neighbouring members that have a text of their own. */
export function writtenMembers(set: NumberSet): Decimal[] {
  const { cuts, at, between } = set;
  return cuts.filter((cut, index) =>
    at[index] && cut.written !== undefined &&
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

// The part of a set of numbers whose members are still members when they are read as doubles, as
// JavaScript and most others do: 0.99999999999999999 is less than 1 but is read as 1, and 10^16 + 2
// may be read as a neighbour that is no multiple of three. Members that are listed one by one are
// kept; a condition that no other member meets is left out.

/** Decimal digits that every double distinguishes. */
const EXACT_DIGITS = 15;
const EXACT_INTEGER = 10n ** BigInt(EXACT_DIGITS);

/** Digits before the point from which on numbers may be read as infinite. */
const FAR_DIGITS = 290;
const GREATEST = Decimal.from(Number.MAX_VALUE);

/** The members of a set that doubles distinguish from numbers that are no members. */
export function readable(set: NumberSet): NumberSet {
  // The automaton writes no numbers of that size, unless there is a bound.
  if (set.cuts.some((cut) => cut.magnitude > FAR_DIGITS)) {
    const finite = intersect(set, interval({ min: GREATEST.negate(), max: GREATEST }));
    if (!isEmptyNumbers(finite)) set = finite;
  }
  const listed = exactly(set.cuts.filter((_, index) => set.at[index]));
  return union(among(among(set, exactRange(set)), awayFromCuts(set)), listed);
}

/** The members that meet a condition; all if none does. */
function among(set: NumberSet, condition: NumberSet): NumberSet {
  const kept = intersect(set, condition);
  return isEmptyNumbers(kept) ? set : kept;
}

/**
 * The numbers whose divisibility survives rounding. All large doubles are integers, so integers
 * have no limit. Neither have the multiples of a number with more digits, or more after the point,
 * than every double distinguishes: those who ask for them do not read doubles.
 */
function exactRange(set: NumberSet): NumberSet {
  const [whole] = integers().between;
  const scales = set.between.filter((piece) => !piece.isUniform && !piece.equals(whole!))
    .filter((piece) => piece.hasBetween(1n, EXACT_INTEGER, Math.max(0, piece.scale)))
    .map((piece) => Math.max(0, piece.scale)).filter((scale) => scale <= EXACT_DIGITS);
  if (scales.length === 0) return new NumberSet([], [], [Multiples.all]);
  const limit = Decimal.from(1).shift(EXACT_DIGITS - Math.max(...scales));
  return interval({ min: limit.negate(), max: limit });
}

/**
 * All numbers that are not read as a cut that bounds a dense part of the set without being in it.
 */
function awayFromCuts(set: NumberSet): NumberSet {
  const edges: Decimal[] = [];
  for (const [index, cut] of set.cuts.entries()) {
    const read = cut.toNumber();
    // The automaton writes no number that is read as 0 or as infinite.
    if (set.at[index] || read === 0 || Math.abs(read) > 1e308) continue;
    if (!set.between[index]!.finer && !set.between[index + 1]!.finer) continue;
    const below = neighbour(read, -1);
    // Gaps that touch are joined.
    if (edges.length > 0 && below.compare(edges.at(-1)!) <= 0) edges.pop();
    else edges.push(below);
    edges.push(neighbour(read, 1));
  }
  const between = edges.map((_, index) => index % 2 === 0 ? Multiples.all : Multiples.none);
  return new NumberSet(edges, edges.map(() => true), [...between, Multiples.all]);
}

/**
 * The numbers that are read as the double next to `value`, as it is usually written, on the side of
 * `value`.
 */
function neighbour(value: number, direction: 1 | -1): Decimal {
  const double = Float64Array.of(value);
  // The bits of doubles of one sign have the order of the doubles.
  new BigInt64Array(double.buffer)[0]! += BigInt(direction * Math.sign(value));
  const shortest = Decimal.from(double[0]!);
  const precise = Decimal.parse(double[0]!.toPrecision(17));
  return shortest.compare(precise) * direction < 0 ? shortest : precise;
}
