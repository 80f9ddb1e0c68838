// Exact sets of numbers. The line is cut at some decimals; between two cuts, divisibility
// determines which numbers are in the set (multiples.ts). Closed under union, intersection and
// complement.

import { pollCancellation } from "../../cancellation.ts";
import { Decimal } from "../json/mod.ts";
import { Multiples, NumberError } from "./multiples.ts";

/** Most digits on either side of the point: as many as a number of a request may have. */
const MAX_DIGITS = 1024;

/** Points of a grid that are searched for members. */
const MAX_SEARCHED = 1_000_000n;

/** A set of numbers. Opaque: use the functions of mod.ts. */
export class NumberSet {
  constructor(
    /** The cuts, in ascending order. */
    readonly cuts: readonly Decimal[],
    /** Whether each cut itself is in the set. */
    readonly at: readonly boolean[],
    /** The parts below the first cut, between the cuts, and above the last. */
    readonly between: readonly Multiples[],
  ) {}

  /** Whether both have the same form. Sets of different forms may still have the same members. */
  equals(other: NumberSet): boolean {
    return this.cuts.length === other.cuts.length &&
      this.cuts.every((cut, index) => cut.equals(other.cuts[index]!)) &&
      this.at.every((inside, index) => inside === other.at[index]) &&
      this.between.every((piece, index) => piece.equals(other.between[index]!));
  }

  /** The number of cuts that are less than `number`. */
  rank(number: Decimal): number {
    let low = 0;
    for (let high = this.cuts.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.cuts[middle]!.compare(number) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The limits of an {@linkcode interval}, all of which may be missing. */
export interface Interval {
  /** The least number. */
  readonly min?: Decimal | undefined;
  /** The greatest number. */
  readonly max?: Decimal | undefined;
  /** All numbers are greater. */
  readonly exclusiveMin?: Decimal | undefined;
  /** All numbers are less. */
  readonly exclusiveMax?: Decimal | undefined;
}

const all = new NumberSet([], [], [Multiples.all]);
const empty = new NumberSet([], [], [Multiples.none]);
const whole = new NumberSet([], [], [Multiples.of(Decimal.from(1))]);

export function allNumbers(): NumberSet {
  return all;
}

/** The integers, whatever they are written as. */
export function integers(): NumberSet {
  return whole;
}

/** The numbers between limits, of those with at most 1024 digits on each side of the point. */
export function interval(limits: Interval): NumberSet {
  const { min, max, exclusiveMin, exclusiveMax } = limits;
  let set = all;
  if (min !== undefined) set = intersect(set, above(min, true));
  if (max !== undefined) set = intersect(set, mirrored(above(max.negate(), true)));
  if (exclusiveMin !== undefined) set = intersect(set, above(exclusiveMin, false));
  if (exclusiveMax !== undefined) {
    set = intersect(set, mirrored(above(exclusiveMax.negate(), false)));
  }
  return set;
}

/**
 * The multiples of `divisor`, 0 among them.
 *
 * @throws NumberError if it is 0, or has over 1024 digits on a side of the point
 */
export function multipleOf(divisor: Decimal): NumberSet {
  return new NumberSet([], [], [Multiples.of(bounded(divisor))]);
}

/**
 * The given numbers.
 *
 * @throws NumberError if one has over 1024 digits on a side of the point
 */
export function exactly(values: readonly Decimal[]): NumberSet {
  const compare = (a: Decimal, b: Decimal) => {
    pollCancellation();
    return a.compare(b);
  };
  const sorted = values.map(bounded).sort(compare)
    .filter((value, index, list) => index === 0 || !value.equals(list[index - 1]!));
  const between = Array<Multiples>(sorted.length + 1).fill(Multiples.none);
  return new NumberSet(sorted, sorted.map(() => true), between);
}

/** The numbers that are in both sets. @throws NumberError if that takes over 10^5 residues */
export function intersect(a: NumberSet, b: NumberSet): NumberSet {
  if (a === all) return b;
  if (b === all) return a;
  const cuts: Decimal[] = [];
  const at: boolean[] = [];
  const between: Multiples[] = [];
  for (let i = 0, j = 0;;) {
    pollCancellation();
    const left = a.cuts[i];
    const right = b.cuts[j];
    const order = left === undefined ? 1 : right === undefined ? -1 : left.compare(right);
    const next = order < 0
      ? writtenAmong(left, b.between[j]!)
      : order > 0
      ? writtenAmong(right, a.between[i]!)
      : left?.written === undefined
      ? right
      : left;
    between.push(a.between[i]!.and(b.between[j]!));
    if (next === undefined) return simplified(cuts, at, between);
    const inLeft = order <= 0 ? a.at[i]! : a.between[i]!.has(next);
    const inRight = order >= 0 ? b.at[j]! : b.between[j]!.has(next);
    cuts.push(next);
    at.push(inLeft && inRight);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
}

/** A cut as it is written among other numbers: among integers alone, as integers are. */
function writtenAmong(
  cut: Decimal | undefined,
  { isUniform, scale }: Multiples,
): Decimal | undefined {
  return isUniform || scale > 0 ? cut : cut?.writtenOut;
}

/** The numbers that are in either set. @throws NumberError if that takes over 10^5 residues */
export function union(a: NumberSet, b: NumberSet): NumberSet {
  return complement(intersect(complement(a), complement(b)));
}

/** The numbers that are not in the set. */
export function complement(set: NumberSet): NumberSet {
  const between = set.between.map((piece) => piece.complement);
  return simplified(set.cuts, set.at.map((inside) => !inside), between);
}

/** Whether no number is in the set. */
export function isEmptyNumbers(set: NumberSet): boolean {
  return set.cuts.length === 0 && set.between[0] === Multiples.none;
}

/** Whether all members are integers. @throws NumberError as {@linkcode intersect} does */
export function hasOnlyIntegers(set: NumberSet): boolean {
  return isEmptyNumbers(intersect(set, complement(whole)));
}

/** Whether both sets have the same members. @throws NumberError as {@linkcode intersect} does */
export function sameNumbers(a: NumberSet, b: NumberSet): boolean {
  if (a.equals(b)) return true;
  return isEmptyNumbers(intersect(a, complement(b))) && isEmptyNumbers(intersect(complement(a), b));
}

/** Whether `number` is in the set. */
export function hasNumber(set: NumberSet, number: Decimal): boolean {
  const rank = set.rank(number);
  return set.cuts[rank]?.equals(number) ? set.at[rank]! : set.between[rank]!.has(number);
}

/**
 * All members in ascending order, if there are at most `limit`, with less than a million numbers
 * between.
 */
export function finiteNumbers(set: NumberSet, limit: number): Decimal[] | undefined {
  const members: Decimal[] = [];
  for (let index = 0; index <= set.cuts.length; index++) {
    const piece = set.between[index]!;
    if (piece !== Multiples.none) {
      const low = set.cuts[index - 1];
      const high = set.cuts[index];
      if (piece.finer || low === undefined || high === undefined) return undefined;
      const [first, last] = gridWithin(piece.scale, low, high);
      if (last - first > MAX_SEARCHED) return undefined;
      for (let unit = first; unit <= last; unit++) {
        pollCancellation();
        const number = Decimal.scaled(unit, -piece.scale);
        if (piece.has(number)) members.push(number);
        if (members.length > limit) return undefined;
      }
    }
    if (set.at[index]) members.push(set.cuts[index]!);
    if (members.length > limit) return undefined;
  }
  return members;
}

/** The numbers greater than a cut, with or without the cut itself. */
function above(cut: Decimal, at: boolean): NumberSet {
  const { all: every, none } = Multiples;
  if (cut.magnitude > MAX_DIGITS) return cut.sign > 0 ? empty : all;
  if (cut.exponent >= -MAX_DIGITS) return new NumberSet([cut], [at], [none, every]);
  // The next number with so many digits is the least.
  const next = Decimal.scaled(cut.floorAt(-MAX_DIGITS) + 1n, -MAX_DIGITS);
  return new NumberSet([next], [true], [none, every]);
}

/** The set of the negated numbers. Divisibility does not depend on the sign. */
export function mirrored(set: NumberSet): NumberSet {
  const cuts = set.cuts.map((cut) => cut.negate()).reverse();
  return new NumberSet(cuts, set.at.toReversed(), set.between.toReversed());
}

function bounded(value: Decimal): Decimal {
  if (hasDigits(value)) return value;
  throw new NumberError(
    `Use the number ${brief(value)}: it has over ${MAX_DIGITS} digits on a side`,
  );
}

function hasDigits(value: Decimal): boolean {
  return value.magnitude <= MAX_DIGITS && value.exponent >= -MAX_DIGITS;
}

function brief(value: Decimal): string {
  const text = value.toString();
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** A set without cuts that change nothing; parts without members become empty. */
function simplified(
  cuts: readonly Decimal[],
  at: readonly boolean[],
  pieces: readonly Multiples[],
): NumberSet {
  const between = pieces.map((piece, index) =>
    isEmptyBetween(piece, cuts[index - 1], cuts[index]) ? Multiples.none : piece
  );
  const kept = cuts.map((cut, index) => {
    pollCancellation();
    const below = between[index]!;
    return !below.equals(between[index + 1]!) || at[index] !== below.has(cut);
  });
  return new NumberSet(
    cuts.filter((_, index) => kept[index]),
    at.filter((_, index) => kept[index]),
    between.filter((_, index) => index === 0 || kept[index - 1]),
  );
}

function isEmptyBetween(piece: Multiples, low?: Decimal, high?: Decimal): boolean {
  pollCancellation();
  if (piece.finer || piece === Multiples.none) return piece === Multiples.none;
  if (low === undefined || high === undefined) return false;
  const [first, last] = gridWithin(piece.scale, low, high);
  return !piece.hasBetween(first, last, piece.scale);
}

/** The first and the last multiple of 10^-scale strictly between two numbers, as multiples. */
function gridWithin(scale: number, low: Decimal, high: Decimal): [bigint, bigint] {
  return [low.floorAt(-scale) + 1n, -high.negate().floorAt(-scale) - 1n];
}
