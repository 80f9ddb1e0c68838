// From a grammar, in GBNF or as data, or a pattern and a vocabulary to token masks.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import {
  type CompiledSchema,
  type CompileOptions,
  schemaOptions,
  tokenTableOf,
} from "./compile.ts";
import { type ParsedGrammar, parseGrammar } from "./ebnf/mod.ts";
import type { GrammarRules } from "./grammar.ts";
import { GrammarError } from "./grammar_error.ts";
import { LanguageError, Languages, PatternError } from "./language/mod.ts";
import { createMachine, MachineError } from "./machine/mod.ts";
import { NumberError } from "./number/mod.ts";
import { Documents, makeProgram } from "./program/mod.ts";

/**
 * Compiles a grammar for a vocabulary.
 *
 * @param grammar GBNF, the syntax of llama.cpp, or data; characters are UTF-8
 * @param options how JSON documents in it are written
 * @throws GrammarError { line, column, reason } for what is malformed, cannot be enforced or has no
 *   text; SchemaError for a JSON document in it
 */
export function compileGrammar(
  grammar: string | GrammarRules,
  tokenizer: Tokenizer,
  options: CompileOptions = {},
): CompiledSchema {
  const parsed: ParsedGrammar = typeof grammar === "string"
    ? parseGrammar(grammar)
    : { grammar, placeOf: () => undefined, spanOf: () => undefined };
  const table = tokenTableOf(tokenizer);
  const languages = new Languages();
  const documents = new Documents(languages, schemaOptions(options));
  try {
    const program = makeProgram(parsed.grammar, {
      languages,
      table,
      documentOf: (node) => documents.add(node),
      stringsOf: (node) => documents.strings(node),
    });
    const machine = createMachine(documents.types, languages, { ...options, table, program });
    machine.tryOut();
    return Object.assign(machine, { warnings: documents.warnings });
  } catch (error) {
    if (error instanceof PatternError) {
      const { reason, column } = error;
      throw new GrammarError(reason, column ? { line: 1, column } : undefined);
    }
    if (error instanceof GrammarError) {
      throw new GrammarError(error.reason, parsed.placeOf(error.rule ?? "root"), error.rule);
    }
    const isLimit = error instanceof MachineError || error instanceof LanguageError ||
      error instanceof NumberError;
    throw isLimit ? new GrammarError(error.message) : error;
  }
}

/**
 * Compiles a pattern for a vocabulary: it must match the whole answer, which is text without quotes.
 *
 * @param source in the syntax of ECMA-262 with the u flag; what other dialects have is read where they
 *   agree
 * @throws GrammarError { line, column } for what is no such pattern, cannot be enforced or has no text
 */
export function compilePattern(source: string, tokenizer: Tokenizer): CompiledSchema {
  return compileGrammar({ root: { type: "pattern", source, isWhole: true } }, tokenizer);
}
