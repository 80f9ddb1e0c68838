// What a filter of the sampler is: which of the tokens that earlier filters keep may be drawn. It is
// written once, over an arithmetic that each device has: numbers in the reference, WGSL, WebAssembly. A
// filter sees of a token how far its logit is below the greatest; it may drop any token, the likeliest
// too, as long as some token is left.

/** Numbers and conditions, as a device has them. */
export interface Arithmetic<Value, Truth> {
  constant(value: number): Value;
  /** An option of the sequence. */
  option(name: string): Value;
  /** A random number from 0 up to 1, which depends on the seed, the position and the filter alone. */
  random(): Value;
  add(a: Value, b: Value): Value;
  subtract(a: Value, b: Value): Value;
  multiply(a: Value, b: Value): Value;
  divide(a: Value, b: Value): Value;
  /** The greater of both. */
  greatest(a: Value, b: Value): Value;
  /** The first number if the condition holds, else the second. */
  choose(condition: Truth, yes: Value, no: Value): Value;
  /** e to the power of a value, which is at most 0. */
  exp(value: Value): Value;
  /** The natural logarithm of a positive number. */
  ln(value: Value): Value;
  atLeast(a: Value, b: Value): Truth;
  not(condition: Truth): Truth;
}

/**
 * A number that a filter needs of an output, computed in order and once, with the numbers before it.
 * `sum`: of a number from 0 to 1 of each token that earlier filters keep; with `ofAll`, of each that may
 * come at all. `least`: the least relative logit of those tokens that `of` chooses, 0 if there are none.
 * `reach`: the least number with which the tokens whose own number, 0 or above, is no greater have a
 * `goal` of the sum of e^relative. `value`: a number of those before it.
 */
export type Total =
  | {
    readonly kind: "sum";
    readonly ofAll?: boolean;
    readonly of: <Value, Truth>(
      m: Arithmetic<Value, Truth>,
      relative: Value,
      before: readonly Value[],
    ) => Value;
  }
  | {
    readonly kind: "least";
    readonly of: <Value, Truth>(
      m: Arithmetic<Value, Truth>,
      relative: Value,
      before: readonly Value[],
    ) => Truth;
  }
  | {
    readonly kind: "reach";
    readonly of: <Value, Truth>(
      m: Arithmetic<Value, Truth>,
      relative: Value,
      before: readonly Value[],
    ) => Value;
    readonly goal: <Value, Truth>(
      m: Arithmetic<Value, Truth>,
      before: readonly Value[],
    ) => Value;
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
  /** Greatest value; greater ones count as this one. Missing: there is none. */
  readonly maximum?: number;
  /** Its name for people. */
  readonly title: string;
  /** What it does, as sentences without the default. */
  readonly help: string;
}

export interface Filter {
  /** Its options, by their names in the sampler. */
  readonly options: Readonly<Record<string, FilterOption>>;
  /** Whether it is on for an output. */
  readonly isOn: <Value, Truth>(m: Arithmetic<Value, Truth>) => Truth;
  readonly totals: readonly Total[];
  /** Whether a token is kept; missing: all are. @param relative its logit minus the greatest, at most 0 */
  readonly keeps?: <Value, Truth>(
    m: Arithmetic<Value, Truth>,
    relative: Value,
    totals: readonly Value[],
  ) => Truth;
  /** The temperature of the draw in place of the option; missing: it stays what it is. */
  readonly temperature?: <Value, Truth>(
    m: Arithmetic<Value, Truth>,
    totals: readonly Value[],
  ) => Value;
}
