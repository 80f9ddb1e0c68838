// A grammar as plain data: what GBNF text, the answer formats of model families and tool calls are
// written in. It knows no tokens and no bytes; machine/ runs it, JSON Schemas within it included.

/** Texts that a {@linkcode GrammarRules} allows at a place. */
export type Grammar =
  /** These characters. A piece that is a control token of the vocabulary means that token. */
  | { readonly type: "literal"; readonly text: string }
  /**
   * A token by its number, or a control token by its piece; one of text means its text. Negated, of
   * control tokens only: any character of text instead.
   */
  | { readonly type: "token"; readonly token: number | string; readonly negated?: boolean }
  /** One character of these ranges of code points, ends included; or none of them. */
  | {
    readonly type: "characters";
    readonly ranges: readonly (readonly [number, number])[];
    readonly negated?: boolean;
  }
  | { readonly type: "sequence"; readonly parts: readonly Grammar[] }
  | { readonly type: "choice"; readonly options: readonly Grammar[] }
  /** A part over and over; max may be Infinity. */
  | { readonly type: "repeat"; readonly part: Grammar; readonly min: number; readonly max: number }
  | { readonly type: "rule"; readonly name: string }
  /** Any text, empty too, in which none of these strings occurs; control tokens are no text. */
  | { readonly type: "text"; readonly without: readonly string[] }
  /** Text that an ECMA-262 pattern matches, anywhere unless it is anchored, as in JSON Schema. */
  | { readonly type: "pattern"; readonly source: string }
  /** A JSON document of a schema. */
  | { readonly type: "json"; readonly schema: unknown };

/** A grammar with rules that it names. */
export interface GrammarRules {
  /** What the text is. */
  readonly root: Grammar;
  /** The rules by name. */
  readonly rules?: ReadonlyMap<string, Grammar>;
}

/** Exactly these characters. */
export function literal(text: string): Grammar {
  return { type: "literal", text };
}

/** One after the other. */
export function sequence(...parts: readonly Grammar[]): Grammar {
  return { type: "sequence", parts };
}

/** Any one of them. */
export function choice(...options: readonly Grammar[]): Grammar {
  return { type: "choice", options };
}

/** Over and over. */
export function repeat(part: Grammar, min = 0, max = Infinity): Grammar {
  return { type: "repeat", part, min, max };
}

/** Once or not at all. */
export function optional(part: Grammar): Grammar {
  return repeat(part, 0, 1);
}

/** Any text in which none of these strings occurs. */
export function textWithout(...without: readonly string[]): Grammar {
  return { type: "text", without };
}

/** A JSON document of a schema. */
export function json(schema: unknown): Grammar {
  return { type: "json", schema };
}
