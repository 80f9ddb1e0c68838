// What a filter of the sampler is: which of the tokens that earlier filters keep may be drawn. It is
// written once, over an arithmetic that each device has: numbers in the reference, WGSL, WebAssembly. A
// filter sees of a token how far its logit is below the greatest; it may drop any token, the likeliest
// too, as long as some token is left.

/** Numbers and conditions, as a device has them. */
export interface Arithmetic<Value, Truth> {
  /** A number. */
  constant(value: number): Value;
  /** An option of the sequence. */
  option(name: string): Value;
  /** A random number from 0 up to 1, which depends on the seed, the position and the filter alone. */
  random(): Value;
  multiply(a: Value, b: Value): Value;
  /** The natural logarithm of a positive number. */
  ln(value: Value): Value;
  atLeast(a: Value, b: Value): Truth;
  not(condition: Truth): Truth;
}

/**
 * A number that a filter needs of an output, computed in order and once. `mass`: the sum of e^relative of
 * the tokens that `of` chooses; `least`: the least relative logit of these, 0 if there are none; `value`:
 * a number of those before it.
 */
export type Total =
  | {
    readonly kind: "mass" | "least";
    readonly of: <Value, Truth>(
      m: Arithmetic<Value, Truth>,
      relative: Value,
      before: readonly Value[],
    ) => Truth;
  }
  | {
    readonly kind: "value";
    readonly of: <Value, Truth>(
      m: Arithmetic<Value, Truth>,
      before: readonly Value[],
    ) => Value;
  };

/** An option of a filter, as requests have it. */
export interface FilterOption {
  /** Its name in requests. */
  readonly name: string;
  readonly type: "number";
  /** What holds without it. With the defaults of all its options a filter keeps all tokens. */
  readonly default: number;
  /** Least value. */
  readonly minimum: number;
  /** Greatest value; greater ones count as this one. */
  readonly maximum: number;
  /** Its name for people. */
  readonly title: string;
  /** What it does, as sentences without the default. */
  readonly help: string;
}

/** A filter. */
export interface Filter {
  /** Its options, by their names in the sampler. */
  readonly options: Readonly<Record<string, FilterOption>>;
  /** Whether it is on for an output. */
  readonly isOn: <Value, Truth>(m: Arithmetic<Value, Truth>) => Truth;
  readonly totals: readonly Total[];
  /** Whether a token is kept. @param relative its logit minus the greatest, at most 0 */
  readonly keeps: <Value, Truth>(
    m: Arithmetic<Value, Truth>,
    relative: Value,
    totals: readonly Value[],
  ) => Truth;
}
