// A JSON number as far as it is written, up to its exponent (RFC 8259, section 6). A digit may
// follow if digits alone can make a member, an exponent only if the number is a member with it at
// once. So no number is begun that only an unusual exponent can complete. Members that are listed
// one by one may also be written as JavaScript writes them, such as 1e-7.

import { Decimal } from "../json/mod.ts";
import type { DigitPosition, HalfLine } from "./half_line.ts";

/** Doubles of magnitudes up to this are neither 0 nor infinite. */
const MAX_MAGNITUDE = 308;

/** The facts of the characters so far. */
interface Parts {
  /** All digits as one integer. */
  readonly digits: bigint;
  /** Digits before the point. */
  readonly whole: number;
  /** Digits after the point; undefined before it. */
  readonly fraction: number | undefined;
  /** Digits after the point up to the last one other than 0. */
  readonly last: number;
  /** Digits before the point from the first one other than 0, minus zeros after it; 0 for 0. */
  readonly magnitude: number;
  readonly position: DigitPosition;
  /** The residue of the integer of the digits up to the last one. */
  readonly residue: bigint;
}

/** The digits of a number, perhaps with a point among them. */
export class Mantissa implements Reading {
  readonly #half: HalfLine;
  readonly #plain: boolean;
  readonly #parts: Parts;
  #shortest: number | undefined;

  private constructor(half: HalfLine, plain: boolean, parts: Parts) {
    this.#half = half;
    this.#plain = plain;
    this.#parts = parts;
  }

  /** The first digit. @param plain whether there are no exponents, and no zeros end a fraction */
  static begin(half: HalfLine, plain: boolean, digit: number): Mantissa {
    return new Mantissa(half, plain, {
      digits: BigInt(digit),
      whole: 1,
      fraction: undefined,
      last: 0,
      magnitude: digit === 0 ? 0 : 1,
      position: digit === 0 ? half.origin : half.advance(half.origin, digit),
      residue: BigInt(digit) % half.modulus,
    });
  }

  get key(): string {
    const { digits, whole, fraction, last, magnitude, position, residue } = this.#parts;
    // Without bounds the size only determines how large an exponent may be.
    const size = this.#half.hasCuts ? magnitude : Math.max(0, Math.min(2, magnitude));
    const remembered = [
      this.#half.name,
      digits === 0n ? "zero" : size,
      fraction === undefined ? whole : `.${fraction}`,
      this.#half.scale === undefined ? "" : `${last}:${residue}`,
      this.#mustGoOn,
      position.low,
      position.high,
      position.depth,
    ];
    return remembered.join(" ");
  }

  get accepts(): boolean {
    return !this.#mustGoOn && this.#half.has(this.#value);
  }

  get isLive(): boolean {
    return this.#isPlainlyLive() || this.#shortestListed() < Infinity;
  }

  get shortest(): number {
    this.#shortest ??= Math.min(this.#shortestPlain(), this.#shortestListed());
    return this.#shortest;
  }

  next(character: string): Reading | undefined {
    const { digits, whole, fraction } = this.#parts;
    if (character === ".") {
      return fraction === undefined ? this.#with({ fraction: 0 }) : undefined;
    }
    if (character === "e" || character === "E") {
      return this.#mustGoOn || this.#plain ? undefined : new Exponent(this.#exponents());
    }
    if (character === "-" || character === "+") return undefined;
    if (fraction !== undefined) {
      return fraction < this.#half.fractionDigits ? this.#fractionDigit(+character) : undefined;
    }
    return digits > 0n && whole < this.#half.integerDigits
      ? this.#integerDigit(+character)
      : undefined;
  }

  get #value(): Decimal {
    return Decimal.scaled(this.#parts.digits, -(this.#parts.fraction ?? 0));
  }

  /**
   * Whether a digit must follow: none has come after the point, or a 0 must not be the last one.
   */
  get #mustGoOn(): boolean {
    const { fraction, last } = this.#parts;
    return fraction === 0 || this.#plain && fraction !== undefined && fraction > last;
  }

  #with(parts: Partial<Parts>): Mantissa {
    return new Mantissa(this.#half, this.#plain, { ...this.#parts, ...parts });
  }

  #integerDigit(digit: number): Mantissa {
    const { digits, whole, magnitude, position, residue } = this.#parts;
    return this.#with({
      digits: digits * 10n + BigInt(digit),
      whole: whole + 1,
      magnitude: magnitude + 1,
      position: this.#half.advance(position, digit),
      residue: (residue * 10n + BigInt(digit)) % this.#half.modulus,
    });
  }

  #fractionDigit(digit: number): Mantissa {
    const { digits, last, magnitude, position } = this.#parts;
    const fraction = this.#parts.fraction! + 1;
    const leads = digits === 0n && digit === 0;
    return this.#with({
      digits: digits * 10n + BigInt(digit),
      fraction,
      magnitude: leads ? -fraction : magnitude,
      position: leads ? position : this.#half.advance(position, digit),
      ...(digit === 0 ? {} : { last: fraction, residue: this.#appended(digit, fraction - last) }),
    });
  }

  /** The residue after `count` more digits, of which only the last is not 0. */
  #appended(digit: number, count: number): bigint {
    let { residue } = this.#parts;
    for (; count > 0; count--) residue = residue * 10n % this.#half.modulus;
    return (residue + BigInt(digit)) % this.#half.modulus;
  }

  /** The exponents with which the digits so far are a member, in ascending order. */
  #exponents(): number[] {
    const { magnitude, last, digits } = this.#parts;
    const { integerDigits, fractionDigits } = this.#half;
    // As rough as the key: without bounds the exact magnitude is not remembered.
    let least = magnitude > 0 ? -MAX_MAGNITUDE : fractionDigits - MAX_MAGNITUDE;
    const size = this.#half.hasCuts ? Math.max(1, magnitude) : magnitude > 1 ? integerDigits : 1;
    let greatest = this.#half.farthest - size;
    if (digits !== 0n) {
      least = Math.max(least, this.#half.magnitudes[0] - magnitude);
      greatest = Math.min(greatest, this.#half.magnitudes[1] - magnitude);
    }
    const value = this.#value;
    const exponents: number[] = [];
    for (let exponent = least; exponent <= greatest; exponent++) {
      if (digits !== 0n && !this.#half.mayScale(exponent, last)) continue;
      if (this.#half.has(value.shift(exponent))) exponents.push(exponent);
    }
    return exponents;
  }

  /** Whether the digits so far, or with more of them, are a member. */
  #isPlainlyLive(): boolean {
    const { digits, whole, fraction } = this.#parts;
    const { integerDigits, fractionDigits, magnitudes } = this.#half;
    if (fraction !== undefined) return this.#reaches(0, fractionDigits - fraction);
    if (digits === 0n) return this.#reaches(0, fractionDigits);
    const most = Math.min(integerDigits, magnitudes[1]);
    for (let length = Math.max(whole, magnitudes[0]); length <= most; length++) {
      if (this.#reaches(length - whole, fractionDigits)) return true;
    }
    return false;
  }

  #shortestPlain(): number {
    const { digits, whole, fraction } = this.#parts;
    const { integerDigits, fractionDigits, magnitudes } = this.#half;
    if (fraction !== undefined) {
      return this.#fewestAfter(0, this.#mustGoOn ? 1 : 0, fractionDigits - fraction);
    }
    const least = digits === 0n ? 0 : Math.max(0, magnitudes[0] - whole);
    const most = digits === 0n ? 0 : Math.min(integerDigits, magnitudes[1]) - whole;
    let fewest = Infinity;
    for (let before = least; before <= most && before < fewest; before++) {
      const after = this.#fewestAfter(before, 0, fractionDigits);
      fewest = Math.min(fewest, before + (after === 0 ? 0 : 1 + after));
    }
    return fewest;
  }

  /** The fewest digits, from `least` to `most`, that make a member after `before` digits. */
  #fewestAfter(before: number, least: number, most: number): number {
    if (!this.#reaches(before, most)) return Infinity;
    let after = least;
    while (!this.#reaches(before, after)) after++;
    return after;
  }

  /** Whether so many more digits before and after the point make a member. */
  #reaches(before: number, after: number): boolean {
    const { digits, fraction = 0 } = this.#parts;
    const step = 10n ** BigInt(before + after);
    const first = digits * step;
    // Only zeros after zeros would make the number that could have ended earlier.
    const least = this.#plain && this.#mustGoOn ? first + 1n : first;
    return this.#half.hasBetween(least, first + step - 1n, fraction + after);
  }

  /** Bytes to the nearest listed member that is written with an exponent; Infinity without one. */
  #shortestListed(): number {
    const { fraction, magnitude, position } = this.#parts;
    if (this.#plain || magnitude !== 1) return Infinity;
    const lengths = this.#half.scientific(position).map((member) => {
      const after = Math.max(member.digits.length - 1, fraction === undefined ? 0 : 1);
      const point = fraction === undefined && after > 0 ? 1 : 0;
      const exponent = `e${member.magnitude - 1}`;
      return point + Math.max(0, after - (fraction ?? 0)) + exponent.length;
    });
    return Math.min(Infinity, ...lengths);
  }
}

// The exponent of a JSON number as far as it is written, if a finite set of exponents is allowed.
// Up to three digits, so that Python's 1e-05 is accepted like JavaScript's 1e-5. The interface of
// all parts of a number is here too, because the other parts lead to this one.

/** A number as far as it is written. Numbers with equal keys have equal continuations. */
export interface Reading {
  /** What the characters so far mean for the rest. */
  readonly key: string;
  /** Whether the number may end here. */
  readonly accepts: boolean;
  /** Whether any continuation is a member. */
  readonly isLive: boolean;
  /** Bytes of the shortest continuation, without an exponent if there is such a one. */
  readonly shortest: number;
  /** The number with one more character of `0123456789.-+eE`; undefined if it must not follow. */
  next(character: string): Reading | undefined;
}

const MAX_DIGITS = 3;

/** A number after the letter e. */
export class Exponent implements Reading {
  readonly #allowed: readonly number[];
  readonly #sign: string;
  readonly #digits: string;
  readonly key: string;
  /** Infinity if nothing can follow. */
  readonly shortest: number;
  readonly accepts: boolean;

  /** @param allowed in ascending order */
  constructor(allowed: readonly number[], sign = "", digits = "") {
    this.#allowed = allowed;
    this.#sign = sign;
    this.#digits = digits;
    this.key = `e${sign}${digits}:${ranges(allowed)}`;
    const lengths = allowed.map((exponent) => this.#bytesTo(exponent));
    this.shortest = Math.min(Infinity, ...lengths);
    this.accepts = lengths.includes(0);
  }

  get isLive(): boolean {
    return this.shortest < Infinity;
  }

  next(character: string): Exponent | undefined {
    if (character === "-" || character === "+") {
      if (this.#sign !== "" || this.#digits !== "") return undefined;
      return new Exponent(this.#allowed, character);
    }
    if (character < "0" || character > "9" || this.#digits.length === MAX_DIGITS) return undefined;
    return new Exponent(this.#allowed, this.#sign, this.#digits + character);
  }

  #bytesTo(exponent: number): number {
    if (exponent < 0 ? this.#sign === "+" : exponent > 0 && this.#sign === "-") return Infinity;
    if (exponent < 0 && this.#sign === "" && this.#digits !== "") return Infinity;
    const missingSign = exponent < 0 && this.#sign === "" ? 1 : 0;
    const digits = String(Math.abs(exponent));
    const begun = this.#digits.length;
    for (let length = Math.max(begun, digits.length); length <= MAX_DIGITS; length++) {
      if (!digits.padStart(length, "0").startsWith(this.#digits)) continue;
      return missingSign + length - begun;
    }
    return Infinity;
  }
}

/** Ascending integers as ranges, such as "-3..5,7..7". */
function ranges(values: readonly number[]): string {
  const firsts = values.filter((value, index) => value - 1 !== values[index - 1]);
  const lasts = values.filter((value, index) => value + 1 !== values[index + 1]);
  return firsts.map((first, index) => `${first}..${lasts[index]}`).join();
}
