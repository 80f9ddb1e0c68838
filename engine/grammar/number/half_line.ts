// The numbers of one sign, as absolute values, for an automaton over digits: what it has to
// remember of the digits so far (how they compare with the bounds, and their residue), and whether
// further digits can lead to a member.

import { Decimal } from "../json/mod.ts";
import { Work } from "../language/mod.ts";
import { Multiples, NumberError } from "./multiples.ts";
import { hasNumber, intersect, interval, mirrored, NumberSet } from "./number_set.ts";

/** The most digits before and after the point with which JavaScript writes doubles. */
const INTEGER_DIGITS = 21;
const FRACTION_DIGITS = 23;
/**
 * Numbers with more digits are read as infinite. Those with this many may be, so they need a bound.
 */
const MAX_DIGITS = 309;
/** Largest modulus. Residues of larger ones would only take time. */
const MAX_MODULUS = 10n ** 1000n;

/** Steps of work for a question about one part of the line, or about one number. */
const PART_STEPS = 4;

/** How the digits so far compare with those of the cuts: the cuts from `low` on begin with them. */
export interface DigitPosition {
  readonly low: number;
  readonly high: number;
  /** The number of digits that were compared. */
  readonly depth: number;
}

/** A set of numbers that are not negative. */
export class HalfLine {
  /** Most digits that are written before the point. */
  readonly integerDigits: number;
  /** Most digits that are written after the point. */
  readonly fractionDigits: number;
  /** Whether the size of a number matters, because there are cuts above 0. */
  readonly hasCuts: boolean;
  /** Digits after the point that matter to divisibility; missing if divisibility does not matter. */
  readonly scale: number | undefined;
  /** The modulus of the residue that is remembered of the integer of all digits. */
  readonly modulus: bigint;
  /** The least and the greatest magnitude of members that are not 0; may be infinite. */
  readonly magnitudes: readonly [least: number, greatest: number];
  /** The greatest magnitude that may be written. */
  readonly farthest: number;
  /** The digits of all cuts, in lexicographic order. */
  readonly #digits: readonly string[];
  readonly #work: Work;
  /** The listed members that JavaScript writes with an exponent, by their digits. */
  readonly #scientific = new Map<string, Decimal[]>();

  /** @throws NumberError if the members need more than 309 digits, or too large residues */
  constructor(readonly set: NumberSet, readonly name: string, work = new Work()) {
    this.#work = work;
    const cuts = set.cuts.filter((cut) => cut.sign > 0);
    this.hasCuts = cuts.length > 0;
    this.farthest = cuts.some((cut) => cut.magnitude >= MAX_DIGITS) ? MAX_DIGITS : MAX_DIGITS - 1;
    this.#digits = [...new Set(cuts.map((cut) => cut.digits))].sort();
    const pieces = [...new Set(set.between)].filter((piece) => !piece.isUniform);
    this.scale = pieces.length === 0
      ? undefined
      : Math.max(0, ...pieces.map((piece) => piece.scale));
    this.modulus = pieces.map((piece) => piece.period * 10n ** BigInt(this.scale! - piece.scale))
      .reduce(leastCommonMultiple, 1n);
    const isNear = set.between[set.cuts.length - cuts.length] !== Multiples.none;
    const isFar = set.between.at(-1) !== Multiples.none;
    this.magnitudes = [
      isNear ? -Infinity : cuts[0]?.magnitude ?? 0,
      isFar ? Infinity : cuts.at(-1)?.magnitude ?? 0,
    ];
    [this.integerDigits, this.fractionDigits] = this.#digitsNeeded();
    const digits = Math.max(this.integerDigits, this.fractionDigits);
    if (digits > MAX_DIGITS) {
      throw new NumberError(`Spell a set of numbers: some have ${digits} digits`);
    }
    for (const cut of this.#listed()) {
      const exponent = cut.magnitude - 1;
      const fraction = cut.digits.length - 1;
      if (exponent >= -6 && exponent < INTEGER_DIGITS || fraction > this.fractionDigits) continue;
      if (!this.mayScale(exponent, fraction)) continue;
      const alike = this.#scientific.get(cut.digits) ?? [];
      this.#scientific.set(cut.digits, [...alike, cut]);
    }
  }

  /**
   * The members that are not negative, and those that may follow a sign, without it. Both are the
   * same object if they are equal.
   *
   * @param plain whether 0 has no sign
   * @param work counts the steps of questions about them
   */
  static split(
    set: NumberSet,
    plain: boolean,
    work = new Work(),
  ): [positive: HalfLine, negative: HalfLine] {
    const { zero } = Decimal;
    const right = intersect(set, interval({ min: zero }));
    const left = intersect(mirrored(set), interval(plain ? { exclusiveMin: zero } : { min: zero }));
    const positive = new HalfLine(right, "+", work);
    return [positive, left.equals(right) ? positive : new HalfLine(left, "-", work)];
  }

  /** The position before the first digit. Leading zeros do not count. */
  get origin(): DigitPosition {
    return { low: 0, high: this.#digits.length, depth: 0 };
  }

  /** The position after one more digit. */
  advance({ low, high, depth }: DigitPosition, digit: number): DigitPosition {
    const first = (digit: number, begin: number): number => {
      for (let end = high; begin < end;) {
        const middle = (begin + end) >> 1;
        if (Number(this.#digits[middle]![depth] ?? 0) < digit) begin = middle + 1;
        else end = middle;
      }
      return begin;
    };
    low = first(digit, low);
    const end = first(digit + 1, low);
    // The position does not change by zeros after the last digit of a cut, nor if no cut begins so.
    if (low === end) depth = 0;
    else if (end > low + 1 || depth < this.#digits[low]!.length) depth++;
    return { low, high: end, depth };
  }

  /**
   * The listed members that may begin with these digits, if JavaScript writes them with exponents.
   */
  scientific({ low, high }: DigitPosition): Decimal[] {
    if (this.#scientific.size === 0) return [];
    this.#work.charge(PART_STEPS * (high - low));
    return this.#digits.slice(low, high).flatMap((digits) => this.#scientific.get(digits) ?? []);
  }

  /**
   * Whether an exponent may follow a mantissa whose last digit other than 0 is `fraction` digits
   * after the point. Zeros before the point do not count: 100e-2 is refused as an integer.
   */
  mayScale(exponent: number, fraction: number): boolean {
    return this.scale === undefined || exponent >= fraction - this.scale;
  }

  /** Whether `number`, which is not negative, is a member. */
  has(number: Decimal): boolean {
    this.#work.charge(PART_STEPS);
    return hasNumber(this.set, number);
  }

  /** Whether any of the numbers first · 10^-scale, …, last · 10^-scale is a member. */
  hasBetween(first: bigint, last: bigint, scale: number): boolean {
    const { cuts, at } = this.set;
    let index = this.set.rank(Decimal.scaled(first, -scale));
    for (; first <= last; index++) {
      this.#work.charge(PART_STEPS);
      const next = cuts[index];
      const floor = next?.floorAt(-scale);
      const onGrid = next !== undefined && next.exponent >= -scale;
      const end = floor === undefined || floor > last ? last : onGrid ? floor - 1n : floor;
      if (this.set.between[index]!.hasBetween(first, end, scale)) return true;
      if (floor === undefined || floor > last) return false;
      if (onGrid && at[index]) return true;
      first = floor + 1n;
    }
    return false;
  }

  /** Members without neighbouring members. */
  #listed(): Decimal[] {
    const { cuts, at, between } = this.set;
    return cuts.filter((cut, index) =>
      cut.sign > 0 && at[index] &&
      between[index] === Multiples.none && between[index + 1] === Multiples.none
    );
  }

  /**
   * The numbers of digits before and after the point that are enough to write some member of every
   * part of the set.
   */
  #digitsNeeded(): [before: number, after: number] {
    let before = INTEGER_DIGITS;
    let after = FRACTION_DIGITS;
    for (const cut of this.#listed()) {
      before = Math.max(before, cut.magnitude);
      after = Math.max(after, -cut.exponent);
    }
    for (const [index, piece] of this.set.between.entries()) {
      if (piece === Multiples.none) continue;
      const low = this.set.cuts[index - 1] ?? Decimal.zero;
      const high = this.set.cuts[index];
      const limit = Decimal.from(1).shift(INTEGER_DIGITS);
      const top = high === undefined || high.compare(limit) > 0 ? limit : high;
      const first = low.floorAt(-FRACTION_DIGITS) + 1n;
      const last = -top.negate().floorAt(-FRACTION_DIGITS) - 1n;
      if (piece.hasBetween(first, last, FRACTION_DIGITS)) continue;
      const enough = low.magnitude + String(piece.period).length + 1;
      before = Math.max(before, Math.min(enough, high?.magnitude ?? enough));
      const finest = Math.max(-low.exponent, -(high?.exponent ?? 0), piece.scale);
      after = Math.max(after, piece.finer ? finest + 1 : piece.scale);
    }
    return [before, after];
  }
}

function leastCommonMultiple(a: bigint, b: bigint): bigint {
  let [divisor, rest] = [a, b];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  const multiple = a / divisor * b;
  if (multiple <= MAX_MODULUS) return multiple;
  throw new NumberError("Spell a set of numbers: all its divisors together have over 1000 digits");
}
