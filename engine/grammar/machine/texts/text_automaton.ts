// The interface of automata of patterns, formats and constants: what a string may be, byte by byte.
// Some methods are optional. Without them, text_rules.ts and ends/text_ends.ts search for the
// answer.

import type { PlainTexts } from "../../language/mod.ts";

/**
 * A deterministic automaton over bytes of text or of a JSON string's content. Only state 0 is a
 * dead end.
 */
export interface TextAutomaton {
  readonly start: number;
  step(state: number, byte: number): number;
  /** Whether a step needs no work, for which the budget of a mask may be spent. */
  isKnown?(state: number, byte: number): boolean;
  accepts(state: number): boolean;
  isBoundary(state: number): boolean;
  /**
   * The states after one more character, or after the one that has begun, if they are known without
   * a search.
   */
  next?(state: number): readonly number[];
  /** The classes of characters that all lead from a state back to it. */
  loops?(state: number): number;
  /**
   * The state to which all characters of some classes lead; 0 if none may come, undefined if they
   * lead to several.
   */
  targetOf?(state: number, classes: number): number | undefined;
  /** The plain texts that may come, if they are all those of some classes up to a length. */
  plainTexts?(state: number): PlainTexts | undefined;
  /** Fewest characters to acceptance; a character that has begun counts. */
  shortest(state: number): number;
  /** Fewest bytes to acceptance. */
  completion(state: number): Uint8Array;
  /** The number of these bytes, found without spelling them out. */
  completionLength?(state: number): number;
  /**
   * Most characters that a text lacks from a state on, after any plain characters, if it may have
   * any greater number as well; Infinity: unknown.
   */
  mostMissing?(state: number): number;
  /** The state that corresponds to a state of another automaton of the same language. */
  adopt?(other: TextAutomaton, state: number): number;
}
