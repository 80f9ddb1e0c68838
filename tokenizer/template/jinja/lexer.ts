// From a template's source to its tokens, as Jinja's lexer makes them with trim_blocks and
// lstrip_blocks: texts, and the contents of tags. Comments are dropped, raw blocks are text.

import { JinjaError } from "./values/values.ts";

/**
 * A token. The tokens of a tag begin with `{{` or `{%` and end with `}}` or `%}`, without marks for
 * white space. The value of a string is without quotes and escapes.
 */
export interface Token {
  readonly type:
    | "text"
    | "{{"
    | "}}"
    | "{%"
    | "%}"
    | "name"
    | "integer"
    | "float"
    | "string"
    | "operator"
    | "end";
  readonly value: string;
  /** Line of its beginning, counted from 1. */
  readonly line: number;
}

/** Longest source, in UTF-16 units. The longest templates of models have some 40,000. */
const MAXIMUM_LENGTH = 1 << 19;

const OPENING = /\{[{%#]/g;
const RAW = /\{%[-+]?\s*raw\s*(-?)%\}/y;
const RAW_END = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
const COMMENT_END = /([-+]?)#\}/g;

/** The parts of a tag, except strings, whose ends are searched unit by unit. */
const SPACE = /\s+/y;
const NAME = /[\p{ID_Start}_]\p{ID_Continue}*/uy;
const FLOAT = /(?<!\.)\d[\d_]*(?:\.\d[\d_]*(?:e[-+]?\d+)?|e[-+]?\d+)/iy;
const INTEGER = /0x[\da-f_]+|0o[0-7_]+|0b[01_]+|\d[\d_]*/iy;
const OPERATOR = /\*\*|\/\/|[=!<>]=|[-+*/%~<>=.,:|()[\]{}]/y;

/** The tokens of a template. Errors: JinjaError with the line. */
export function tokenize(source: string): Token[] {
  if (source.length > MAXIMUM_LENGTH) {
    throw new JinjaError(
      `it has ${source.length} characters, at most ${MAXIMUM_LENGTH} are allowed`,
    );
  }
  return new Lexer(source.replace(/\r\n?/g, "\n").replace(/\n$/, "")).run();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #position = 0;
  /** Line of the token that was added last, and the end of that line. */
  #line = 1;
  #lineEnd: number;
  /** Whether the next text loses the white space at its beginning. */
  #trimsStart = false;

  constructor(source: string) {
    this.#source = source;
    this.#lineEnd = this.#lineEndAfter(0);
  }

  run(): Token[] {
    for (;;) {
      OPENING.lastIndex = this.#position;
      const opening = OPENING.exec(this.#source);
      if (!opening) break;
      const { index: start, 0: kind } = opening;
      const next = this.#source[start + 2]!;
      // Expressions have no mark that keeps white space: a plus is a sign.
      const openMark = next === "-" || (next === "+" && kind !== "{{") ? next : "";
      this.#addText(this.#textBefore(start, kind, openMark));
      const inner = start + 2 + openMark.length;
      const closeMark = kind === "{#"
        ? this.#skipComment(start, inner)
        : this.#readRaw(start) ?? this.#readTag(kind as "{{" | "{%", start, inner);
      this.#trimsStart = closeMark === "-";
      // trim_blocks: a line end directly after a block is removed.
      const isBlock = kind !== "{{";
      if (isBlock && closeMark === "" && this.#source[this.#position] === "\n") this.#position++;
    }
    this.#addText(this.#trimmed(this.#source.slice(this.#position)));
    this.#add("end", "", this.#source.length);
    return this.#tokens;
  }

  #add(type: Token["type"], value: string, position: number): void {
    for (; this.#lineEnd < position; this.#line++) {
      this.#lineEnd = this.#lineEndAfter(this.#lineEnd + 1);
    }
    this.#tokens.push({ type, value, line: this.#line });
  }

  #lineEndAfter(position: number): number {
    const end = this.#source.indexOf("\n", position);
    return end < 0 ? Infinity : end;
  }

  #addText(text: string): void {
    if (text !== "") this.#add("text", text, this.#position);
  }

  #trimmed(text: string): string {
    return this.#trimsStart ? text.trimStart() : text;
  }

  /** The text before a tag, without the white space that the tag removes. */
  #textBefore(start: number, kind: string, openMark: string): string {
    const text = this.#trimmed(this.#source.slice(this.#position, start));
    if (openMark === "-") return text.trimEnd();
    if (openMark === "+" || kind === "{{") return text;
    // lstrip_blocks: the white space between the beginning of a line and a block is removed.
    let lineStart = start;
    while (lineStart > 0 && " \t".includes(this.#source[lineStart - 1]!)) lineStart--;
    const opensLine = lineStart === 0 || this.#source[lineStart - 1] === "\n";
    return opensLine ? text.slice(0, Math.max(0, text.length - (start - lineStart))) : text;
  }

  /** Skips a comment. @returns the mark at its end */
  #skipComment(start: number, inner: number): string {
    COMMENT_END.lastIndex = inner;
    const end = COMMENT_END.exec(this.#source);
    if (!end) this.#fail(start, "a comment has no end");
    this.#position = COMMENT_END.lastIndex;
    return end[1]!;
  }

  /**
   * Reads a raw block as text. @returns the mark at its end; undefined if no raw block begins here
   */
  #readRaw(start: number): string | undefined {
    RAW.lastIndex = start;
    const opening = RAW.exec(this.#source);
    if (!opening) return undefined;
    const first = RAW_END.lastIndex = RAW.lastIndex;
    const closing = RAW_END.exec(this.#source);
    if (!closing) this.#fail(start, "a raw block has no end");
    let raw = this.#source.slice(first, closing.index);
    if (opening[1] === "-") raw = raw.trimStart();
    if (closing[1] === "-") raw = raw.trimEnd();
    else if (closing[1] === "") raw = raw.replace(/(^|\n)[ \t]+$/, "$1");
    this.#addText(raw);
    this.#position = RAW_END.lastIndex;
    return closing[2]!;
  }

  /** Reads a tag, up to the first end mark outside of brackets. @returns the mark at its end */
  #readTag(open: "{{" | "{%", start: number, inner: number): string {
    const source = this.#source;
    const close = open === "{{" ? "}}" : "%}";
    let depth = 0;
    this.#add(open, "", start);
    this.#position = inner;
    for (;;) {
      this.#match(SPACE);
      const position = this.#position;
      if (position >= source.length) this.#fail(start, "a tag has no end");
      if (depth === 0) {
        const mark = "-+".includes(source[position]!) ? source[position]! : "";
        if (source.startsWith(close, position + mark.length)) {
          this.#position = position + mark.length + 2;
          this.#add(close, "", position);
          return mark;
        }
      }
      const character = source[position]!;
      if (character === "'" || character === '"') {
        this.#readString(character);
        continue;
      }
      const name = this.#match(NAME);
      if (name !== undefined) {
        this.#add("name", name, position);
        continue;
      }
      const float = this.#match(FLOAT);
      const number = float ?? this.#match(INTEGER);
      if (number !== undefined) {
        this.#add(float === undefined ? "integer" : "float", number.replaceAll("_", ""), position);
        continue;
      }
      const operator = this.#match(OPERATOR);
      if (operator === undefined) {
        const found = String.fromCodePoint(source.codePointAt(position)!);
        this.#fail(position, `Unexpected character: ${found}`);
      }
      if ("([{".includes(operator)) depth++;
      if (")]}".includes(operator) && depth > 0) depth--;
      this.#add("operator", operator, position);
    }
  }

  /** The match of a sticky pattern at the position, which moves behind it. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#source)?.[0];
    if (found !== undefined) this.#position = pattern.lastIndex;
    return found;
  }

  #readString(quote: string): void {
    const source = this.#source;
    const start = this.#position;
    let end = start + 1;
    while (end < source.length && source[end] !== quote) end += source[end] === "\\" ? 2 : 1;
    if (end >= source.length) this.#fail(start, "a string has no end");
    this.#add("string", unescape(source.slice(start + 1, end)), start);
    this.#position = end + 1;
  }

  #fail(position: number, fault: string): never {
    const line = this.#source.slice(0, position).split("\n").length;
    throw new JinjaError(`line ${line}: ${fault}`);
  }
}

const ESCAPE = /\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{1,3}|.)/gs;

/** The character of each escape sequence. */
const ESCAPED = new Map([
  ["\n", ""],
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);

/** The value of a string literal: Python's escapes are replaced, others stay as they are. */
function unescape(literal: string): string {
  if (!literal.includes("\\")) return literal;
  return literal.replace(ESCAPE, (escape, body: string) => {
    const meant = ESCAPED.get(body);
    if (meant !== undefined) return meant;
    if (/^[0-7]/.test(body)) return String.fromCodePoint(Number.parseInt(body, 8));
    if (body.length < 3) return escape;
    const codePoint = Number.parseInt(body.slice(1), 16);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : escape;
  });
}
