// Parses values that models write instead of JSON: Python's True, None and quotes, Gemma's quotes
// and keys without quotes, line breaks within strings. It also accepts JSON. One pass over the
// text.

import { type JsonNumber, jsonNumber } from "../../../../tokenizer/mod.ts";

/** Most nesting of values. */
const MAX_DEPTH = 200;

/** Gemma's quotes, then Python's and JSON's. */
const QUOTES = ['<|"|>', "<escape>", '"', "'"] as const;

const BLANK = /\s*/y;

const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;

const WORD = /(?:true|True|false|False|null|None)(?!\w)/y;

const BARE_KEY = /[^\s:,{}()[\]"']+/y;

const WORDS = new Map([["true", true], ["false", false], ["null", null], ["none", null]]);

const CLOSINGS: Readonly<Record<string, string>> = { "[": "]", "(": ")", "{": "}" };

/** The value of a text; undefined if it is not a literal. */
export function readLiteral(text: string): unknown {
  const reader = new LiteralReader(text);
  const value = reader.value();
  return reader.isAtEnd() ? value : undefined;
}

/** A reader of text from left to right. Every method skips white space first. */
export class LiteralReader {
  readonly #text: string;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether the text is at its end. */
  isAtEnd(): boolean {
    this.#match(BLANK);
    return this.#offset === this.#text.length;
  }

  /** Skips these characters if they come next. Gives whether they did. */
  take(characters: string): boolean {
    this.#match(BLANK);
    if (!this.#text.startsWith(characters, this.#offset)) return false;
    this.#offset += characters.length;
    return true;
  }

  /** The match of a sticky pattern; undefined if there is none. */
  match(pattern: RegExp): string | undefined {
    this.#match(BLANK);
    return this.#match(pattern);
  }

  /** A value; undefined if there is none. */
  value(depth = 0): unknown {
    if (depth > MAX_DEPTH) return undefined;
    for (const quote of QUOTES) {
      if (this.take(quote)) return this.#string(quote);
    }
    if (this.take("{")) return this.#members(depth);
    for (const open of ["[", "("]) {
      if (this.take(open)) {
        return this.list(CLOSINGS[open]!, () => this.value(depth + 1));
      }
    }
    const number = this.match(NUMBER);
    if (number !== undefined) return readNumber(number);
    const word = this.match(WORD);
    return word === undefined ? undefined : WORDS.get(word.toLowerCase());
  }

  /** Items between commas, up to and including a closing mark; undefined if one cannot be read. */
  list<T>(closing: string, item: () => T | undefined): T[] | undefined {
    const items: T[] = [];
    while (!this.take(closing)) {
      if (items.length > 0 && !this.take(",")) return undefined;
      // Python allows a comma after the last item.
      if (items.length > 0 && this.take(closing)) break;
      const one = item();
      if (one === undefined) return undefined;
      items.push(one);
    }
    return items;
  }

  #members(depth: number): Record<string, unknown> | undefined {
    const members = this.list<[string, unknown]>("}", () => {
      const quote = QUOTES.find((mark) => this.take(mark));
      const key = quote ? this.#string(quote) : this.match(BARE_KEY);
      if (key === undefined || !this.take(":")) return undefined;
      const value = this.value(depth + 1);
      return value === undefined ? undefined : [key, value];
    });
    return members && Object.fromEntries(members);
  }

  /**
   * The rest of a string. A quote only ends it where a string can end, because it may contain
   * others.
   */
  #string(quote: string): string | undefined {
    const escapes = quote.length === 1;
    const start = this.#offset;
    for (let at = start; at < this.#text.length; at++) {
      if (escapes && this.#text[at] === "\\") at++;
      else if (this.#text.startsWith(quote, at) && this.#endsString(at + quote.length)) {
        this.#offset = at + quote.length;
        const text = this.#text.slice(start, at);
        return escapes ? unescape(text) : text;
      }
    }
    return undefined;
  }

  #endsString(offset: number): boolean {
    BLANK.lastIndex = offset;
    BLANK.test(this.#text);
    return BLANK.lastIndex === this.#text.length || ",)]}:".includes(this.#text[BLANK.lastIndex]!);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset;
    const match = pattern.exec(this.#text);
    if (!match) return undefined;
    this.#offset = pattern.lastIndex;
    return match[0];
  }
}

/** A number as JSON writes it, which has no +1, 01, .5 and 1.; undefined if it is too long. */
function readNumber(text: string): number | JsonNumber | undefined {
  const json = text.replace(/^\+/, "").replace(/^(-?)0+(?=\d)/, "$1").replace(/^(-?)\./, "$10.")
    .replace(/\.(?!\d)/, ".0");
  try {
    return jsonNumber(json);
  } catch {
    return undefined;
  }
}

const ESCAPE = /\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^])/g;

const ESCAPED: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  "\n": "",
  "\\": "\\",
  "/": "/",
  "'": "'",
  '"': '"',
};

/** Unknown escapes stay as they are, as in Python. */
function unescape(text: string): string {
  return text.replace(ESCAPE, (whole, escape: string) => {
    if (escape.length > 1) return String.fromCharCode(parseInt(escape.slice(1), 16));
    return ESCAPED[escape] ?? whole;
  });
}
