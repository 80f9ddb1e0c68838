// Sets of numbers that are defined by divisibility alone, such as the multiples of 0.05 that are
// not integers. On a grid of step 10^-scale such a set is periodic, so it is a bitmap of residues,
// or needs none if only residue 0 differs. It contains all numbers between the points of the grid,
// or none. Closed under "and" and "not".

import { pollCancellation } from "../../cancellation.ts";
import { Decimal } from "../json/mod.ts";

/** A set of numbers that cannot be built: a bound or a divisor that is too large or too fine. */
export class NumberError extends Error {
  /** Name of the class. */
  override name = "NumberError";
}

/** Most residues of a bitmap. */
const MAX_RESIDUES = 100_000;

/** A set of numbers. Equal sets have equal fields. */
export class Multiples {
  /** All numbers. */
  static readonly all: Multiples = new Multiples(0, 1n, true, Uint8Array.of(1));
  /** No number. */
  static readonly none: Multiples = new Multiples(0, 1n, false, Uint8Array.of(0));

  /**
   * 1 for each residue in the set. Missing if residue 0 is in the set and no other, or the reverse.
   */
  readonly #bitmap: Uint8Array | undefined;
  /** For each residue, how many lower residues are in the set; computed on demand. */
  #counts: Int32Array | undefined;
  #complement: Multiples | undefined;
  readonly #coarser = new Map<number, Multiples>();

  private constructor(
    /** The grid: multiples of 10^-scale. */
    readonly scale: number,
    /** The period, in points of the grid. */
    readonly period: bigint,
    /** Whether the numbers off the grid are in the set; without a bitmap, those off the period. */
    readonly finer: boolean,
    bitmap?: Uint8Array,
  ) {
    this.#bitmap = bitmap;
  }

  /** The multiples of `divisor`. @throws NumberError if it is 0 */
  static of(divisor: Decimal): Multiples {
    if (divisor.sign === 0) throw new NumberError("Build the multiples of 0: there are none");
    const period = divisor.sign < 0 ? -divisor.coefficient : divisor.coefficient;
    return new Multiples(-divisor.exponent, period, false);
  }

  /** Whether this is the set of all numbers, or the empty set. */
  get isUniform(): boolean {
    return this === Multiples.all || this === Multiples.none;
  }

  get complement(): Multiples {
    if (this.isUniform) return this === Multiples.all ? Multiples.none : Multiples.all;
    if (this.#complement === undefined) {
      const bitmap = this.#bitmap?.map((bit) => 1 - bit);
      this.#complement = new Multiples(this.scale, this.period, !this.finer, bitmap);
      this.#complement.#complement = this;
    }
    return this.#complement;
  }

  /** Whether `number` is in the set. */
  has(number: Decimal): boolean {
    const power = number.exponent + this.scale;
    if (power < 0 && number.coefficient !== 0n) return this.finer;
    const factor = powerOfTen(Math.max(0, power), this.period);
    const residue = modulo(number.coefficient * factor, this.period);
    if (this.#bitmap !== undefined) return this.#bitmap[Number(residue)] === 1;
    return residue === 0n ? !this.finer : this.finer;
  }

  /** Whether any of the numbers first · 10^-scale, …, last · 10^-scale is in the set. */
  hasBetween(first: bigint, last: bigint, scale: number): boolean {
    if (last < first || this === Multiples.none) return false;
    if (this === Multiples.all) return true;
    if (scale < this.scale) return this.#coarsened(scale).hasBetween(first, last, scale);
    const step = 10n ** BigInt(scale - this.scale);
    // Of two neighbours on a finer grid, one is off the coarser one.
    if (this.finer && step > 1n && (last > first || first % step !== 0n)) return true;
    return this.#hasResidue(ceilDivide(first, step), -ceilDivide(-last, step));
  }

  /**
   * The numbers that are in both sets.
   *
   * @throws NumberError if that takes a bitmap of more than 10^5 residues
   */
  and(other: Multiples): Multiples {
    if (this.equals(other) || other === Multiples.all || this === Multiples.none) return this;
    if (this === Multiples.all || other === Multiples.none) return other;
    if (this.equals(other.complement)) return Multiples.none;
    if (this.scale > other.scale) return other.and(this);
    // The finer grid is only needed for what the coarser set has between the points of its grid.
    const scale = this.finer ? other.scale : this.scale;
    const a = this.#at(scale);
    const b = other.#at(scale);
    const period = a.period / greatestCommonDivisor(a.period, b.period) * b.period;
    if (a.#isDivisor && b.#isDivisor) return Multiples.of(Decimal.scaled(period, -scale));
    pollCancellation();
    const bitmap = emptyBitmap(period);
    const [inA, inB] = [a.#residues(), b.#residues()];
    for (let residue = 0; residue < bitmap.length; residue++) {
      bitmap[residue] = inA[residue % inA.length]! & inB[residue % inB.length]!;
    }
    return Multiples.#reduced(scale, bitmap, a.finer && b.finer);
  }

  /** Whether both are the same set. */
  equals(other: Multiples): boolean {
    if (this === other) return true;
    const bitmap = this.#bitmap;
    return this.scale === other.scale && this.finer === other.finer &&
      this.period === other.period && bitmap?.length === other.#bitmap?.length &&
      (bitmap === undefined || bitmap.every((bit, residue) => bit === other.#bitmap![residue]));
  }

  /** Whether this is the set of multiples of a number. */
  get #isDivisor(): boolean {
    return this.#bitmap === undefined && !this.finer;
  }

  #residues(): Uint8Array {
    if (this.#bitmap !== undefined) return this.#bitmap;
    const bitmap = emptyBitmap(this.period).fill(this.finer ? 1 : 0);
    bitmap[0] = this.finer ? 0 : 1;
    return bitmap;
  }

  #hasResidue(first: bigint, last: bigint): boolean {
    if (last < first) return false;
    const size = last - first + 1n;
    if (this.#bitmap === undefined) {
      const multiples = last - modulo(last, this.period) >= first;
      return this.finer ? this.period > 1n && (size > 1n || !multiples) : multiples;
    }
    this.#counts ??= counted(this.#bitmap);
    const counts = this.#counts;
    const period = this.#bitmap.length;
    if (size >= this.period) return counts[period]! > 0;
    const begin = Number(modulo(first, this.period));
    const end = begin + Number(size);
    if (end <= period) return counts[end]! > counts[begin]!;
    return counts[period]! > counts[begin]! || counts[end - period]! > 0;
  }

  /** This set on a finer grid, or its part on a coarser grid. */
  #at(scale: number): Multiples {
    if (scale <= this.scale) return this.#coarsened(scale);
    const step = 10n ** BigInt(scale - this.scale);
    const period = this.period * step;
    if (this.#bitmap === undefined) return new Multiples(scale, period, this.finer);
    const bitmap = emptyBitmap(period).fill(this.finer ? 1 : 0);
    this.#bitmap.forEach((bit, residue) => bitmap[residue * Number(step)] = bit);
    return new Multiples(scale, period, this.finer, bitmap);
  }

  /** The part on a coarser grid. Numbers between its points do not matter. */
  #coarsened(scale: number): Multiples {
    if (scale === this.scale) return this;
    const known = this.#coarser.get(scale);
    if (known !== undefined) return known;
    const step = 10n ** BigInt(this.scale - scale);
    const period = this.period / greatestCommonDivisor(this.period, step);
    const all = this.#bitmap;
    const stride = Number(step % this.period);
    const bitmap = all && emptyBitmap(period).map((_, index) => all[index * stride % all.length]!);
    const coarser = new Multiples(scale, period, all === undefined && this.finer, bitmap);
    this.#coarser.set(scale, coarser);
    return coarser;
  }

  /** The set of a bitmap, with the coarsest grid and the shortest period. */
  static #reduced(scale: number, bitmap: Uint8Array, finer: boolean): Multiples {
    pollCancellation();
    const rest = finer ? 1 : 0;
    if (bitmap.every((bit) => bit === rest)) return finer ? Multiples.all : Multiples.none;
    for (const prime of primeFactors(bitmap.length)) {
      const period = bitmap.length / prime;
      if (bitmap.every((bit, residue) => bit === bitmap[residue % period])) {
        bitmap = bitmap.slice(0, period);
      }
    }
    while (
      bitmap.length % 10 === 0 &&
      bitmap.every((bit, residue) => residue % 10 === 0 || bit === rest)
    ) {
      bitmap = bitmap.filter((_bit, residue) => residue % 10 === 0);
      scale--;
    }
    const needed = bitmap.some((bit, residue) => (bit === rest) !== (residue > 0));
    return new Multiples(scale, BigInt(bitmap.length), finer, needed ? bitmap : undefined);
  }
}

/** The prime factors of `value`, with their multiplicity. */
function primeFactors(value: number): number[] {
  const factors: number[] = [];
  for (let divisor = 2; divisor * divisor <= value; divisor++) {
    for (; value % divisor === 0; value /= divisor) factors.push(divisor);
  }
  return value > 1 ? [...factors, value] : factors;
}

function emptyBitmap(period: bigint): Uint8Array<ArrayBuffer> {
  if (period > MAX_RESIDUES) {
    throw new NumberError(
      `Build a set of multiples: it repeats after ${period} steps, and ${MAX_RESIDUES} is the most`,
    );
  }
  return new Uint8Array(Number(period));
}

function counted(bitmap: Uint8Array): Int32Array {
  const counts = new Int32Array(bitmap.length + 1);
  bitmap.forEach((bit, residue) => counts[residue + 1] = counts[residue]! + bit);
  return counts;
}

/** 10^power modulo `modulus`. */
function powerOfTen(power: number, modulus: bigint): bigint {
  let result = 1n;
  for (let square = 10n; power > 0; power = Math.floor(power / 2)) {
    if (power % 2 === 1) result = result * square % modulus;
    square = square * square % modulus;
  }
  return result;
}

function modulo(dividend: bigint, divisor: bigint): bigint {
  const remainder = dividend % divisor;
  return remainder < 0n ? remainder + divisor : remainder;
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return quotient * divisor < dividend ? quotient + 1n : quotient;
}
