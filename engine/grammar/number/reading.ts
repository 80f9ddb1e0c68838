// What the states of the automaton of numbers have in common, whatever part of a number they are in.

/** A number as far as it is written. Equal keys mean equal continuations. */
export interface Reading {
  /** What is remembered of the characters so far. */
  readonly key: string;
  /** Whether the number may end here. */
  readonly accepts: boolean;
  /** Whether any continuation makes a member. */
  readonly isLive: boolean;
  /** Bytes of the shortest continuation; one without an exponent, where there is one. */
  readonly shortest: number;
  /** What one more character of `0123456789.-+e` makes; undefined if it must not follow. */
  next(character: string): Reading | undefined;
}
