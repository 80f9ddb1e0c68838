// What a string may be, byte by byte: the interface of automata that the machine is given, of patterns,
// formats and constants. Some answers are optional: what an automaton cannot tell at once is searched
// for in text_rules.ts and completion/text_ends.ts.

/** A deterministic automaton over bytes of text or of a JSON string's content; 0 is the only state without end. */
export interface TextAutomaton {
  readonly start: number;
  step(state: number, byte: number): number;
  /** Whether a step needs no work, which a mask may have used up. */
  isKnown?(state: number, byte: number): boolean;
  accepts(state: number): boolean;
  isBoundary(state: number): boolean;
  /** The states one character on, or at the end of one that is begun, where that is told at once. */
  next?(state: number): readonly number[];
  /** Whether a character may lead from a state back to it. */
  mayRepeat?(state: number): boolean;
  /** Fewest characters to acceptance, counting one that is begun. */
  shortest(state: number): number;
  /** A number of characters that acceptance takes at least, told without a search. */
  fewest?(state: number): number;
  /** Fewest bytes to acceptance. */
  completion(state: number): Uint8Array;
  /** The number of these bytes, found without spelling them out. */
  completionLength?(state: number): number;
  /** Whether no string holds U+2028 or U+2029, which a dot in patterns does not stand for. */
  readonly isWithoutSeparators?: boolean;
  /** Most characters that any text without escapes, and separators if so, lacks from here on; Infinity: unknown. */
  mostMissing?(state: number, isWithoutSeparators: boolean): number;
  /** The same in bytes. */
  mostBytesMissing?(state: number): number;
  /** The state that goes on as a state does of another automaton of the same language. */
  adopt?(other: TextAutomaton, state: number): number;
}
