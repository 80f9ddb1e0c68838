// From a Go template's source to text and the tokens of its actions, with trim markers applied.
// Defined by the documentation of Go's package text/template.

import { GoTemplateError } from "./errors.ts";

/** A token within an action. */
export interface Token {
  kind: "word" | "field" | "variable" | "string" | "number" | "dot" | "operator";
  /** The name without its dot, the string without its quotes, or the source. */
  text: string;
  /** Whether white space precedes it: `.A .B` are two operands, `.A.B` is one. */
  isSpaced: boolean;
  line: number;
}

/** A text or an action of the source. */
export type Piece = { text: string } | { tokens: Token[]; line: number };

const TRIMMED = "[ \\t\\r\\n]";
const OPEN = new RegExp(`\\{\\{(-(?=${TRIMMED}))?`, "g");
const COMMENT = new RegExp(`${TRIMMED}*/\\*[^]*?\\*/(${TRIMMED}+-)?\\}\\}`, "y");
const CLOSE = new RegExp(`${TRIMMED}-\\}\\}|\\}\\}`, "y");
const SPACE = /[ \t\r\n]+/y;
const TOKEN_PATTERNS: [kind: Token["kind"], pattern: RegExp][] = [
  ["string", /"(?:[^"\\\n]|\\.)*"|`[^`]*`/y],
  ["number", /'(?:[^'\\\n]|\\[^\n]+?)'|[+-]?(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d*)?(?:e[+-]?\d+)?)/y],
  ["variable", /\$[\p{L}\p{N}_]*/uy],
  ["field", /\.[\p{L}_][\p{L}\p{N}_]*/uy],
  ["word", /[\p{L}_][\p{L}\p{N}_]*/uy],
  ["operator", /:=|[=|(),]/y],
  ["dot", /\./y],
];

/** Splits a template into texts and actions. Errors: GoTemplateError. */
export function splitTemplate(source: string): Piece[] {
  const pieces: Piece[] = [];
  let [position, trimsStart] = [0, false];
  const lines = new LineCounter(source);
  for (;;) {
    OPEN.lastIndex = position;
    const open = OPEN.exec(source);
    let text = source.slice(position, open?.index);
    if (trimsStart) text = text.replace(/^[ \t\r\n]+/, "");
    if (open?.[1]) text = trimEnd(text);
    if (text !== "") pieces.push({ text });
    if (!open) return pieces;
    const line = lines.at(open.index);
    COMMENT.lastIndex = OPEN.lastIndex;
    const comment = COMMENT.exec(source);
    if (comment) {
      [position, trimsStart] = [COMMENT.lastIndex, comment[1] !== undefined];
      continue;
    }
    const action = readAction(source, OPEN.lastIndex, line);
    pieces.push({ tokens: action.tokens, line });
    [position, trimsStart] = [action.end, action.trims];
  }
}

function readAction(source: string, start: number, firstLine: number) {
  const tokens: Token[] = [];
  let [position, line] = [start, firstLine];
  for (;;) {
    const close = matchAt(CLOSE, source, position);
    if (close !== undefined) {
      return { tokens, end: position + close.length, trims: close.length > 2 };
    }
    const space = matchAt(SPACE, source, position) ?? "";
    position += space.length;
    line += space.split("\n").length - 1;
    if (matchAt(CLOSE, source, position) !== undefined) continue;
    // A trim marker may follow white space that was consumed already.
    if (space !== "" && source.startsWith("-}}", position)) {
      return { tokens, end: position + 3, trims: true };
    }
    const token = readToken(source, position, line, space !== "");
    position += token.length;
    tokens.push(token.token);
  }
}

function readToken(source: string, position: number, line: number, isSpaced: boolean) {
  for (const [kind, pattern] of TOKEN_PATTERNS) {
    const found = matchAt(pattern, source, position);
    if (found === undefined) continue;
    const text = kind === "string"
      ? unquote(found, line)
      : kind === "field"
      ? found.slice(1)
      : found;
    return { token: { kind, text, isSpaced, line }, length: found.length };
  }
  const found = source.slice(position, position + 1);
  throw new GoTemplateError(
    found === "" ? "an action has no end" : `unexpected ${JSON.stringify(found)} in an action`,
    line,
  );
}

function matchAt(pattern: RegExp, source: string, position: number): string | undefined {
  pattern.lastIndex = position;
  return pattern.exec(source)?.[0];
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

function unquote(literal: string, line: number): string {
  const body = literal.slice(1, -1);
  if (literal.startsWith("`")) return body;
  return body.replace(
    /\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{3}|.)/g,
    (escape, code: string) => {
      const simple = SIMPLE_ESCAPES[code];
      if (simple !== undefined) return simple;
      if (/^[0-7]{3}$/.test(code)) return String.fromCodePoint(Number.parseInt(code, 8));
      const value = Number.parseInt(code.slice(1), 16);
      if (code.length > 1 && value <= 0x10ffff) return String.fromCodePoint(value);
      throw new GoTemplateError(`unknown escape ${escape}`, line);
    },
  );
}

/** The value of a character constant such as 'a'. Errors: GoTemplateError. */
export function characterCode(literal: string, line: number): number {
  return unquote(literal, line).codePointAt(0) ?? 0;
}

/**
 * The text without white space at its end. A regular expression would try each white space in the
 * text.
 */
function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && " \t\r\n".includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** Line numbers of positions in ascending order, so that the source is read only once. */
class LineCounter {
  readonly #source: string;
  #line = 1;
  #next: number;

  constructor(source: string) {
    this.#source = source;
    this.#next = source.indexOf("\n");
  }

  /** The line of a position, from 1. */
  at(position: number): number {
    while (this.#next >= 0 && this.#next < position) {
      this.#line++;
      this.#next = this.#source.indexOf("\n", this.#next + 1);
    }
    return this.#line;
  }
}
