// Exact decimal numbers as in JSON (RFC 8259, section 6): an integer times a power of ten, so that
// 1e999999 takes no more memory than 1. Code that writes the digits out has to limit their number
// itself.

/** A text or a value that cannot be read as JSON. */
export class JsonError extends Error {
  /** Name of the class. */
  override name = "JsonError";

  /**
   * Says what is wrong.
   *
   * @param offset where the text goes wrong, in UTF-16 units; missing if there is no text
   */
  constructor(message: string, readonly offset?: number, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Limits of digits and exponents. Larger ones are only written to exhaust memory. */
const MAX_DIGITS = 10_000;
const MAX_EXPONENT = 1_000_000;

/** How a number is not written out: with an exponent, zeros after its last decimal place, or as -0. */
const UNUSUAL = /e|\.\d*0$|^-0$/i;

const SYNTAX = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** A number `coefficient` · 10^`exponent`. Equal numbers have equal fields. */
export class Decimal {
  /** The number 0. */
  static readonly zero: Decimal = new Decimal(0n, 0);

  readonly #written: string | undefined;

  private constructor(
    /** The digits with their sign; never a multiple of ten, except 0. */
    readonly coefficient: bigint,
    /** The power of ten; 0 for the number 0. */
    readonly exponent: number,
    written?: string,
  ) {
    this.#written = written;
  }

  /**
   * Reads a JSON number. It keeps its text as {@linkcode written} unless that has all its digits and
   * no more.
   *
   * @throws JsonError if `text` is none, or has more than 10,000 digits or an exponent over 10^6
   */
  static parse(text: string): Decimal {
    const match = text.length <= 2 * MAX_DIGITS ? SYNTAX.exec(text) : null;
    if (match === null) throw new JsonError(`Read a number: ${excerpt(text)} is none`);
    const [, sign, whole, fraction = "", power = "0"] = match;
    const digits = whole! + fraction;
    const exponent = /[1-9]/.test(digits) ? Number(power) - fraction.length : 0;
    if (digits.length > MAX_DIGITS || Math.abs(exponent) > MAX_EXPONENT) {
      throw new JsonError(`Read a number: ${excerpt(text)} is out of range`);
    }
    const number = Decimal.scaled(BigInt(sign + digits), exponent);
    return UNUSUAL.test(text) ? new Decimal(number.coefficient, number.exponent, text) : number;
  }

  /** The number `coefficient` · 10^`exponent`. */
  static scaled(coefficient: bigint, exponent: number): Decimal {
    if (coefficient === 0n) return Decimal.zero;
    if (coefficient % 10n !== 0n) return new Decimal(coefficient, exponent);
    const digits = coefficient.toString();
    let end = digits.length;
    while (digits[end - 1] === "0") end--;
    return new Decimal(BigInt(digits.slice(0, end)), exponent + digits.length - end);
  }

  /**
   * The number that JavaScript writes for `value`: 0.1 for 0.1, not the binary fraction next to it.
   *
   * @throws JsonError if `value` is not finite
   */
  static from(value: number | bigint): Decimal {
    return Decimal.parse(Object.is(value, -0) ? "0" : String(value));
  }

  /** The text that it was read from, if that is not its usual one. */
  get written(): string | undefined {
    return this.#written;
  }

  /** This number without a text of its own. */
  get writtenOut(): Decimal {
    return this.#written === undefined ? this : new Decimal(this.coefficient, this.exponent);
  }

  /** Whether this is an integer, however it was written. */
  get isInteger(): boolean {
    return this.exponent >= 0;
  }

  /** -1, 0 or 1. */
  get sign(): number {
    return this.coefficient < 0n ? -1 : this.coefficient > 0n ? 1 : 0;
  }

  /** Digits left of the point: 3 for 120, 0 for 0.12, -1 for 0.012; 0 for the number 0. */
  get magnitude(): number {
    if (this.coefficient === 0n) return 0;
    return this.digits.length + this.exponent;
  }

  /** The digits of the coefficient, without its sign. */
  get digits(): string {
    return (this.coefficient < 0n ? -this.coefficient : this.coefficient).toString();
  }

  /** The number with the other sign. */
  negate(): Decimal {
    return new Decimal(-this.coefficient, this.exponent);
  }

  /** This number times 10^`power`. */
  shift(power: number): Decimal {
    return Decimal.scaled(this.coefficient, this.exponent + power);
  }

  /** Negative, 0 or positive, as this number is less than, equal to or greater than `other`. */
  compare(other: Decimal): number {
    if (this.exponent === other.exponent) return order(this.coefficient, other.coefficient);
    if (this.sign !== other.sign || this.sign === 0) return this.sign - other.sign;
    const difference = this.magnitude - other.magnitude;
    if (difference !== 0) return this.sign * difference;
    // Equal magnitudes: the exponents differ by no more than the digits do.
    const exponent = Math.min(this.exponent, other.exponent);
    return order(this.floorAt(exponent), other.floorAt(exponent));
  }

  /** Whether both are the same number. */
  equals(other: Decimal): boolean {
    return this.exponent === other.exponent && this.coefficient === other.coefficient;
  }

  /** The greatest integer n with n · 10^`exponent` not greater than this number. */
  floorAt(exponent: number): bigint {
    if (this.exponent >= exponent) {
      return this.coefficient * 10n ** BigInt(this.exponent - exponent);
    }
    if (this.magnitude < exponent) return this.coefficient < 0n ? -1n : 0n;
    const divisor = 10n ** BigInt(exponent - this.exponent);
    const quotient = this.coefficient / divisor;
    return this.coefficient < 0n && quotient * divisor !== this.coefficient
      ? quotient - 1n
      : quotient;
  }

  /** The nearest double; infinite if it is too large. */
  toNumber(): number {
    return Number(`${this.coefficient}e${this.exponent}`);
  }

  /** The number as JSON: written out up to 21 digits left and 6 zeros right of the point. */
  toString(): string {
    const sign = this.coefficient < 0n ? "-" : "";
    const { digits, exponent, magnitude } = this;
    if (exponent >= 0 && magnitude <= 21) return sign + digits + "0".repeat(exponent);
    if (magnitude > 0 && exponent < 0) {
      return `${sign}${digits.slice(0, magnitude)}.${digits.slice(magnitude)}`;
    }
    if (magnitude > -6 && exponent < 0) return `${sign}0.${"0".repeat(-magnitude)}${digits}`;
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${sign}${digits[0]}${fraction}e${magnitude - 1}`;
  }
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
