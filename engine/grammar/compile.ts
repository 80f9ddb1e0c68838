// From a JSON Schema, a grammar in GBNF or as data, or a pattern, with a vocabulary, to token
// masks: the parts of this folder put together.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import { type ParsedGrammar, parseGrammar } from "./ebnf.ts";
import { GrammarError, type GrammarRules } from "./grammar.ts";
import { LanguageError, Languages, PatternError } from "./language/mod.ts";
import { createMachine, MachineError } from "./machine/mod.ts";
import { TokenTable } from "./machine/token_table.ts";
import { NumberError } from "./number/mod.ts";
import { Documents, makeProgram } from "./program/mod.ts";
import {
  readSchema,
  SchemaError,
  type SchemaOptions,
  schemaValue,
  type SchemaWarning,
} from "./schema/mod.ts";

/** Options: how documents are written, and which keywords bind. */
export interface CompileOptions {
  /**
   * Spaces: none; at most one after a colon or comma (the default); or white space wherever JSON
   * allows it, at most 64 bytes at a time.
   */
  readonly whitespace?: "none" | "single" | "free";
  /** Whether declared keys may come in any order, and between others. Default false. */
  readonly anyOrder?: boolean;
  /** Whether numbers may be spelled in any way, as in 1.0 or 1e2, to check given documents. Default false. */
  readonly anyNumbers?: boolean;
  /**
   * Which formats `format` enforces, since JSON Schema leaves that open: all that are known (the
   * default), "standard" for those of JSON Schema without those that only OpenAPI and ajv-formats
   * have, or none.
   */
  readonly formats?: boolean | "standard";
  /**
   * Whether an object may have keys that its schema does not declare, if the schema declares some
   * and does not mention others; and whether a value may have JSON types of which its schema says
   * nothing, if it speaks of some, as `properties` does of objects. JSON Schema allows both. Default:
   * only where given documents are checked (anyOrder, anyNumbers); new documents have neither.
   */
  readonly openObjects?: boolean;
  /**
   * Steps of work for a mask, beyond which tokens are left out. Tests set fewer than the default.
   */
  readonly maskWork?: number;
  /** The fraction of the usual memory in which masks may keep their results, for tests. */
  readonly keptShare?: number;
}

/** One document as it is written token by token. */
export interface Matcher {
  /** Whether the document could end here. */
  readonly isComplete: boolean;
  /** Whether an end token was accepted: no token may follow. */
  readonly isEnded: boolean;
  /** The bytes so far. Valid until the next call. */
  readonly written: Uint8Array;
  /**
   * The tokens that may come next: bit t of word t >> 5 is token t. End tokens are included if the
   * document may end here. Never empty before the end. Valid until the next call.
   *
   * @param options remaining: number of tokens that can still come; the mask then has only those after
   *   which the document can become complete in time. If it cannot anyway, that changes nothing.
   */
  mask(options?: { readonly remaining?: number }): Uint32Array<ArrayBuffer>;
  /** Accepts a token. Returns false, and changes nothing, if the token is not allowed. */
  accept(token: number): boolean;
  /** Accepts bytes as if tokens had brought them; then like accept(). */
  acceptBytes(bytes: Uint8Array): boolean;
  /** The bytes that must come next, up to where there is a choice or the document may end. */
  forced(): Uint8Array;
  /**
   * A short text that completes the document; undefined if it would be too long or takes too long
   * to find.
   */
  completion(): Uint8Array | undefined;
  /**
   * The number of tokens that complete the document: never fewer than it needs, and seldom more.
   * Infinity if it is not found in time, or no tokens of the vocabulary spell the end.
   */
  missing(): number;
  /** Whether the document can become complete within a number of tokens. */
  mayEndWithin(tokens: number): boolean;
  /** Whether the document can become complete within a number of tokens after some that may come. */
  mayEndAfter(tokens: readonly number[], left: number): boolean;
  /** A copy of this matcher, to look ahead with. */
  fork(): Matcher;
}

/** A compiled schema, which can be enforced any number of times. */
export interface CompiledSchema {
  /** Begins a document. */
  matcher(): Matcher;
  /** Steps of work, of some 300 ns each, that compiling and all documents have taken so far. */
  readonly steps: number;
  /** What of its schemas is not enforced, such as formats that nobody knows. */
  readonly warnings: readonly SchemaWarning[];
}

/**
 * The tables of vocabularies. Sorting a vocabulary takes a third of a second, so each is sorted
 * once.
 */
const tables = new WeakMap<Tokenizer, TokenTable>();

/**
 * Compiles a JSON Schema (drafts 4 to 2020-12) for a vocabulary.
 *
 * @param schema as a value, or as JSON text, which keeps the order of keys like "1" and exact numbers
 * @throws SchemaError { pointer, keyword, message } for what is malformed, cannot be enforced or has
 *   no value
 */
export function compileSchema(
  schema: unknown,
  tokenizer: Tokenizer,
  options: CompileOptions = {},
): CompiledSchema {
  try {
    const { types, languages, integersAsSpelled, warnings } = readSchema(
      schemaValue(schema),
      schemaOptions(options),
    );
    const table = tokenTableOf(tokenizer);
    const machine = createMachine(types, languages, { ...options, integersAsSpelled, table });
    machine.tryOut();
    return Object.assign(machine, { warnings });
  } catch (error) {
    const isLimit = error instanceof MachineError || error instanceof NumberError ||
      error instanceof LanguageError;
    throw isLimit ? new SchemaError("", "", error.message) : error;
  }
}

/** The reader's options for documents that are written with these options. */
export function schemaOptions(
  { formats = true, anyOrder = false, anyNumbers = false, openObjects }: CompileOptions,
): SchemaOptions {
  return { formats, openObjects: openObjects ?? (anyOrder || anyNumbers) };
}

/** The tokens of a vocabulary, sorted once. */
export function tokenTableOf(tokenizer: Tokenizer): TokenTable {
  let table = tables.get(tokenizer);
  if (!table) {
    table = TokenTable.of({
      size: tokenizer.vocabularySize,
      bytesOf: (token) => tokenizer.tokenBytes(token),
      endTokens: tokenizer.endOfGeneration,
      isControl: (token) => tokenizer.isControl(token),
      piece: (token) => tokenizer.piece(token),
    });
    tables.set(tokenizer, table);
  }
  return table;
}

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
    : { grammar, positionOf: () => undefined, spanOf: () => undefined };
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
      throw new GrammarError(error.reason, parsed.positionOf(error.rule ?? "root"), error.rule);
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
