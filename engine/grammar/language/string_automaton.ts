// The automaton of a language over the bytes of a JSON string's content, or of plain text. It
// answers by the states of its schema, which all automata share.

import type { Expression } from "./expression_store.ts";
import type { PlainTexts } from "./plain_texts.ts";
import type { StringStates } from "./string_states.ts";

/** An automaton over the bytes of texts of one language, in one canonical spelling. */
export class StringAutomaton {
  /** The state before the first byte; 0 if the language is empty. */
  readonly start: number;
  readonly #states: StringStates;

  /**
   * The automaton of a language. @throws {LanguageError} if a shortest text takes too long to find
   */
  constructor(states: StringStates, language: Expression) {
    this.#states = states;
    this.start = states.begin(language);
  }

  /**
   * The state after one more byte; 0 if no text of the language continues with it. Errors:
   * OutOfWork.
   */
  step(state: number, byte: number): number {
    return this.#states.step(state, byte);
  }

  /** The states after one more character, or after the one that has begun. Errors: OutOfWork. */
  next(state: number): readonly number[] {
    return this.#states.next(state);
  }

  /**
   * The classes of characters that all lead from a state back to it (character_set.ts). Errors:
   * OutOfWork.
   */
  loops(state: number): number {
    return this.#states.loops(state);
  }

  /**
   * The state to which all characters of some classes lead; 0 if none may come, undefined if they
   * lead to several. Errors: OutOfWork.
   */
  targetOf(state: number, classes: number): number | undefined {
    return this.#states.targetOf(state, classes);
  }

  /**
   * The plain texts that may come in a state, if they are all those of some classes of characters
   * up to a length. Errors: OutOfWork.
   */
  plainTexts(state: number): PlainTexts | undefined {
    return this.#states.plainTexts(state);
  }

  /** Whether {@linkcode step} knows the answer already. */
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

  /** Fewest further characters to acceptance; a character that has begun counts. */
  shortest(state: number): number {
    return this.#states.shortest(state);
  }

  /** The shortest continuation to acceptance, in bytes; empty if it takes too long to find. */
  completion(state: number): Uint8Array {
    return this.#states.completion(state);
  }

  /** Its length, found without spelling it out; Infinity if that takes too long. */
  completionLength(state: number): number {
    return this.#states.bytesLeft(state);
  }

  /**
   * Most characters that a text lacks from a state on, after any plain characters, if it may have
   * any greater number as well; Infinity: unknown.
   */
  mostMissing(state: number): number {
    return this.#states.mostMissing(state);
  }

  /** The state that corresponds to a state of the same language in another collection. */
  adopt(other: unknown, state: number): number {
    if (!(other instanceof StringAutomaton)) {
      throw new TypeError("Cannot adopt a state: it is of no string");
    }
    return this.#states.adopt(other.#states, state);
  }
}
