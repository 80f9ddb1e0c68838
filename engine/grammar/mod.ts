// Output that always fits its schema or grammar: masks of the tokens that may come next.

export {
  type CompiledSchema,
  compileGrammar,
  type CompileOptions,
  compilePattern,
  compileSchema,
  type Matcher,
} from "./compile.ts";
export {
  both,
  choice,
  type Grammar,
  GrammarError,
  type GrammarRules,
  json,
  type JsonGrammar,
  type JsonType,
  literal,
  optional,
  repeat,
  type SchemaPointer,
  sequence,
  type StringGrammar,
  textWithout,
} from "./grammar.ts";
export { forcedTokens } from "./jump_forward.ts";
export {
  CONSTRAINTS,
  DanglingReferenceError,
  SchemaError,
  type SchemaWarning,
  warningText,
} from "./schema/mod.ts";
export { DeadEndError } from "./machine/mod.ts";
export { type OpenDocument, openDocument, schemaRules, TextRules } from "./in_force/mod.ts";
