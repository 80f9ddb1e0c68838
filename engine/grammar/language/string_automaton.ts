// The bytes of a JSON string's content, or of plain text, as an automaton of one language. What it is
// asked is answered by the states of its schema, which all automata share.

import type { Expression } from "./expression_store.ts";
import type { StringStates } from "./string_states.ts";

/** A text of a language, byte by byte, in one canonical spelling. */
export class StringAutomaton {
  /** The state before the first byte; 0 if the language is empty. */
  readonly start: number;
  /** Whether no string holds U+2028 or U+2029, which a dot in patterns does not stand for. */
  readonly isWithoutSeparators: boolean;
  readonly #states: StringStates;

  /** Of a language, by the states of its schema. @throws {LanguageError} if a shortest text takes too long to find */
  constructor(states: StringStates, language: Expression) {
    this.#states = states;
    this.start = states.begin(language);
    this.isWithoutSeparators = states.isWithoutSeparators(language);
  }

  /** The state after one more byte; 0 if no text of the language goes on so. Errors: OutOfWork. */
  step(state: number, byte: number): number {
    return this.#states.step(state, byte);
  }

  /** The states one character on, or at the end of the one that is begun. Errors: OutOfWork. */
  next(state: number): readonly number[] {
    return this.#states.next(state);
  }

  /** Whether a character may lead from a state back to it. Errors: OutOfWork. */
  mayRepeat(state: number): boolean {
    return this.#states.mayRepeat(state);
  }

  /** Whether {@linkcode step} needs no work. */
  isKnown(state: number, byte: number): boolean {
    return this.#states.isKnown(state, byte);
  }

  /** Whether the text may end here. */
  accepts(state: number): boolean {
    return this.#states.accepts(state);
  }

  /** Whether the state is between two characters. */
  isBoundary(state: number): boolean {
    return this.#states.isBoundary(state);
  }

  /** Fewest further characters to acceptance; one that is begun counts. */
  shortest(state: number): number {
    return this.#states.shortest(state);
  }

  /** A number of characters that acceptance takes at least, told without a search. */
  fewest(state: number): number {
    return this.#states.fewest(state);
  }

  /** The shortest continuation to acceptance, in bytes; none if that takes too long to find. */
  completion(state: number): Uint8Array {
    return this.#states.completion(state);
  }

  /** The length of that, found without spelling it out; then Infinity. */
  completionLength(state: number): number {
    return this.#states.bytesLeft(state);
  }

  /** Most characters that any text without escapes, and separators if so, lacks from here on; Infinity: unknown. */
  mostMissing(state: number, isWithoutSeparators = false): number {
    return this.#states.mostMissing(state, isWithoutSeparators || this.isWithoutSeparators);
  }

  /** The same in bytes: no shortest end after any such text is further away. */
  mostBytesMissing(state: number): number {
    return this.#states.mostBytesMissing(state, this.isWithoutSeparators);
  }

  /** The state that goes on as a state does of the same language among others. */
  adopt(other: unknown, state: number): number {
    if (!(other instanceof StringAutomaton)) {
      throw new TypeError("Cannot adopt a state: it is of no string");
    }
    return this.#states.adopt(other.#states, state);
  }
}
