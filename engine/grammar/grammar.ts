// A grammar as plain data, for GBNF texts, the answer formats of model families, and tool calls. It
// knows no tokens and no bytes; machine/ runs it, and the JSON Schemas in it.

import { EngineError } from "../errors.ts";

/** Texts that a {@linkcode GrammarRules} allows at a position. */
export type Grammar =
  /**
   * A literal text. If it is the name of a control token of the vocabulary, it means that token.
   */
  | { readonly type: "literal"; readonly text: string }
  /**
   * A token by its id, or a control token by its name. An id of a text token means its text. A
   * negated control token means any character of text instead.
   */
  | { readonly type: "token"; readonly token: number | string; readonly negated?: boolean }
  /**
   * One character within these ranges of code points, both ends included; negated: one outside of
   * them.
   */
  | {
    readonly type: "characters";
    readonly ranges: readonly (readonly [number, number])[];
    readonly negated?: boolean;
  }
  | { readonly type: "sequence"; readonly parts: readonly Grammar[] }
  | { readonly type: "choice"; readonly options: readonly Grammar[] }
  /** A repetition; `max` may be Infinity. */
  | { readonly type: "repeat"; readonly part: Grammar; readonly min: number; readonly max: number }
  | { readonly type: "rule"; readonly name: string }
  /** Any text, even empty, that contains none of these strings. Control tokens are not text. */
  | { readonly type: "text"; readonly without: readonly string[] }
  /**
   * A text in which a pattern of ECMA-262, or of another dialect, matches somewhere, as in JSON
   * Schema; or which it matches as a whole.
   */
  | { readonly type: "pattern"; readonly source: string; readonly isWhole?: boolean }
  /** A text that each of these allows: regular ones, without control tokens and JSON documents. */
  | { readonly type: "both"; readonly parts: readonly Grammar[] }
  | JsonGrammar
  | StringGrammar;

/** Types of JSON values. Integers are numbers. */
export type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

/** A schema, as a whole document or within one. */
export interface SchemaPointer {
  /** The document, as a value or as JSON text. */
  readonly schema: unknown;
  /** JSON pointer to the schema in the document. Default: its root. */
  readonly at?: string;
  /** Whether to keep quiet about what of it is not enforced, because that was told before. */
  readonly isQuiet?: boolean;
}

/** A JSON document that fits a schema. */
export interface JsonGrammar extends SchemaPointer {
  /** Tells it from other grammars. */
  readonly type: "json";
  /** The types of its values. Default: all that the schema allows. */
  readonly types?: readonly JsonType[];
}

/** A string that fits a schema as its bare text, without quotes and escapes. */
export interface StringGrammar extends SchemaPointer {
  /** Tells it from other grammars. */
  readonly type: "string";
}

/** A grammar and the rules that it names. */
export interface GrammarRules {
  /** The grammar of the whole text. */
  readonly root: Grammar;
  /** The rules by name. */
  readonly rules?: ReadonlyMap<string, Grammar>;
}

/** Exactly these characters. */
export function literal(text: string): Grammar {
  return { type: "literal", text };
}

export function sequence(...parts: readonly Grammar[]): Grammar {
  return { type: "sequence", parts };
}

export function choice(...options: readonly Grammar[]): Grammar {
  return { type: "choice", options };
}

/** A repetition. */
export function repeat(part: Grammar, min = 0, max = Infinity): Grammar {
  return { type: "repeat", part, min, max };
}

export function optional(part: Grammar): Grammar {
  return repeat(part, 0, 1);
}

/** Any text in which none of these strings occurs. */
export function textWithout(...without: readonly string[]): Grammar {
  return { type: "text", without };
}

/** A text that each of these allows. */
export function both(...parts: readonly Grammar[]): Grammar {
  return { type: "both", parts };
}

/** A JSON document of a schema. */
export function json(schema: unknown): JsonGrammar {
  return { type: "json", schema };
}

/** Where in the text of a grammar something is. */
export interface SourcePosition {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/** A grammar that cannot be enforced. */
export class GrammarError extends EngineError {
  /** Line in the text of the grammar, from 1; undefined where it was given as data. */
  readonly line: number | undefined;
  /** Column in the line, from 1. */
  readonly column: number | undefined;

  /**
   * An error that says where and why.
   *
   * @param reason what is wrong
   * @param position where in the text of the grammar, if it is known
   * @param rule the rule at fault, if it is known
   */
  constructor(readonly reason: string, position?: SourcePosition, readonly rule?: string) {
    const where = position ? ` at line ${position.line}, column ${position.column}` : "";
    super(`Cannot enforce the grammar${where}: ${reason}`);
    this.line = position?.line;
    this.column = position?.column;
  }
}
