// From a JSON Schema and a vocabulary to token masks: the parts of this folder put together.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import { LanguageError } from "./language/mod.ts";
import { createMachine, MachineError } from "./machine/mod.ts";
import { TokenTable } from "./machine/tokens/token_table.ts";
import { NumberError } from "./number/mod.ts";
import { readSchema, SchemaError, type SchemaOptions, schemaValue } from "./schema/mod.ts";

/** How documents are written, and what binds. */
export interface CompileOptions {
  /**
   * Spaces: none; at most one after a colon or comma (the default); or white space wherever JSON
   * allows it, at most 64 bytes at a place.
   */
  readonly whitespace?: "none" | "single" | "free";
  /** Whether declared keys may come in any order, and between others. Default false. */
  readonly anyOrder?: boolean;
  /** Whether numbers may be spelled in any way, as in 1.0 or 1e2, to check given documents. Default false. */
  readonly anyNumbers?: boolean;
  /**
   * Whether `format` binds, which JSON Schema leaves open: all that are known, the default; "standard",
   * those of JSON Schema but not those that only OpenAPI and ajv-formats have; or none.
   */
  readonly formats?: boolean | "standard";
  /**
   * Whether objects whose schema declares keys, and says nothing of others, may have others too, as JSON
   * Schema has it. Default: only where given documents are checked, as anyOrder and anyNumbers tell; what
   * is written anew has the declared keys alone.
   */
  readonly openObjects?: boolean;
  /** Steps of work for a mask, beyond which tokens are left out: fewer than by default, for tests. */
  readonly maskWork?: number;
  /** The share of what masks may keep of what they find that they do keep, for tests. */
  readonly keptShare?: number;
}

/** One document as it is written token by token. */
export interface Matcher {
  /** Whether the document could end here. */
  readonly isComplete: boolean;
  /** Whether an end token has come: no token may follow. */
  readonly isEnded: boolean;
  /**
   * The tokens that may come: bit t of word t >> 5 for token t, end tokens where the document may
   * end. Never empty before the end. Valid until the next call.
   *
   * @param options remaining: tokens that can still come, an end token among them; leads to an end
   */
  mask(options?: { readonly remaining?: number }): Uint32Array<ArrayBuffer>;
  /** Takes a token. False, and no change, where it may not come. */
  accept(token: number): boolean;
  /** Bytes that must come next, up to where there is a choice or the document may end. */
  forced(): Uint8Array;
  /** Short bytes that finish the document; undefined where they are too many, or take too long to find. */
  completion(): Uint8Array | undefined;
  /** Whether the document might end within so many tokens. */
  mayEndWithin(tokens: number): boolean;
  /** A matcher of a document that begins with all that came, to look ahead with. */
  fork(): Matcher;
}

/** A schema that is ready to be enforced, any number of times. */
export interface CompiledSchema {
  /** Begins a document. */
  matcher(): Matcher;
  /** Steps of work, of some 300 ns, that compiling and all documents took so far. */
  readonly steps: number;
}

/** Sorting a vocabulary takes a third of a second: once for each. */
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
    const { types, languages, integersAsSpelled } = readSchema(
      schemaValue(schema),
      schemaOptions(options),
    );
    const table = tokenTableOf(tokenizer);
    const machine = createMachine(types, languages, { ...options, integersAsSpelled, table });
    machine.tryOut();
    return machine;
  } catch (error) {
    const isLimit = error instanceof MachineError || error instanceof NumberError ||
      error instanceof LanguageError;
    throw isLimit ? new SchemaError("", "", error.message) : error;
  }
}

/** How schemas are read for documents that are written in a way. */
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
