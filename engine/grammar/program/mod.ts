// Makes the program of a grammar, which the frame machine runs.

import type { GrammarRules } from "../grammar.ts";
import type { Program } from "../machine/rules/program.ts";
import { checkProgram } from "./check.ts";
import { emitProgram } from "./part.ts";
import { Simplifier, type Surroundings } from "./simplify.ts";

export { Documents } from "./documents.ts";

/**
 * The program of a grammar.
 *
 * @throws {GrammarError} if a rule is missing or begins with itself, or no text is allowed
 */
export function makeProgram(grammar: GrammarRules, surroundings: Surroundings): Program {
  const simplifier = new Simplifier(grammar, surroundings);
  const root = simplifier.root();
  return checkProgram(
    emitProgram(root, (name) => simplifier.rule(name), surroundings.languages),
  );
}
