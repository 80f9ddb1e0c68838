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
