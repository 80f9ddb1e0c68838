// Reads values as models write them where they do not write JSON: Python's True, None and quotes,
// Gemma's quotes and bare keys, line breaks within strings. JSON is read too. One pass over the text.

/** Values within values, at most. */
const MAX_DEPTH = 200;

/** Gemma's marks, then Python's and JSON's. */
const QUOTES = ['<|"|>', "<escape>", '"', "'"] as const;

const BLANK = /\s*/y;

const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;

const WORD = /(?:true|True|false|False|null|None)(?!\w)/y;

const BARE_KEY = /[^\s:,{}()[\]"']+/y;

const WORDS = new Map([["true", true], ["false", false], ["null", null], ["none", null]]);

const CLOSINGS: Readonly<Record<string, string>> = { "[": "]", "(": ")", "{": "}" };

/** The value that a text is; undefined where it is none. */
export function readLiteral(text: string): unknown {
  const reader = new LiteralReader(text);
  const value = reader.value();
  return reader.isAtEnd() ? value : undefined;
}

/** Reads a text from left to right; every method skips white space first. */
export class LiteralReader {
  readonly #text: string;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether nothing is left. */
  isAtEnd(): boolean {
    this.#match(BLANK);
    return this.#offset === this.#text.length;
  }

  /** Whether these characters came, which are then behind. */
  take(characters: string): boolean {
    this.#match(BLANK);
    if (!this.#text.startsWith(characters, this.#offset)) return false;
    this.#offset += characters.length;
    return true;
  }

  /** What a sticky pattern matches; undefined where it does not. */
  match(pattern: RegExp): string | undefined {
    this.#match(BLANK);
    return this.#match(pattern);
  }

  /** A value; undefined where there is none. */
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
    if (number !== undefined) return Number(number);
    const word = this.match(WORD);
    return word === undefined ? undefined : WORDS.get(word.toLowerCase());
  }

  /** Items between commas, up to and with a closing mark; undefined where one cannot be read. */
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

  /** The rest of a string, whose closing quote must be where a string can end: it may hold others. */
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

/** As Python has it: an escape that it does not know stays as it is. */
function unescape(text: string): string {
  return text.replace(ESCAPE, (whole, escape: string) => {
    if (escape.length > 1) return String.fromCharCode(parseInt(escape.slice(1), 16));
    return ESCAPED[escape] ?? whole;
  });
}
