// The error of grammars that cannot be enforced: the text is malformed, a rule is missing, or no
// text fits.

import { EngineError } from "../errors.ts";

/** Where in the text of a grammar something is. */
export interface TextPlace {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/** A grammar that cannot be enforced. */
export class GrammarError extends EngineError {
  /** Name of the class. */
  override name = "GrammarError";
  /** Line in the text of the grammar, from 1; undefined where it was given as data. */
  readonly line: number | undefined;
  /** Column in the line, from 1. */
  readonly column: number | undefined;

  /**
   * An error that says where and why.
   *
   * @param reason what is wrong
   * @param place where in the text of the grammar, if it is known
   * @param rule the rule at fault, if it is known
   */
  constructor(readonly reason: string, place?: TextPlace, readonly rule?: string) {
    const where = place ? ` at line ${place.line}, column ${place.column}` : "";
    super(`Cannot enforce the grammar${where}: ${reason}`);
    this.line = place?.line;
    this.column = place?.column;
  }
}
