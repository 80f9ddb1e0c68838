// Regular languages for constrained strings: what a schema's patterns, formats and enumerations allow,
// as automata over bytes. See languages.ts.

export {
  ASCII,
  BEYOND_ASCII,
  classesOf,
  classOf,
  EVERY_CLASS,
  hasCharacter,
  ROUGH,
} from "./character_set.ts";
export { LanguageError, PatternError } from "./errors.ts";
export { type LanguageId, Languages } from "./languages.ts";
export type { CountedLanguage, Lengths } from "./members.ts";
export type { PatternNode } from "./pattern_node.ts";
export { parsePattern } from "./pattern_parser.ts";
export type { PlainTexts } from "./plain_texts.ts";
export type { StringAutomaton } from "./string_automaton.ts";
export { expectOutOfWork, OutOfWork, unlessOutOfWork, Work } from "./work.ts";
