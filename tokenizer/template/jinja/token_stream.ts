// The tokens of a template as a parser reads them, one after the other, with the errors of those that
// are out of place.

import type { Token } from "./lexer.ts";
import { JinjaError } from "./values/values.ts";

/**
 * How deep brackets, signs and blocks may nest in each other. Python, which runs what jinja2 makes of
 * a template, takes 200 brackets at most.
 */
const MAXIMUM_NESTING = 200;

/** Tokens that are taken from the front. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  /** Takes all tokens, of which the last is the end. */
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The next token. */
  get token(): Token {
    return this.#tokens[this.#next]!;
  }

  /** The one after it. */
  get following(): Token | undefined {
    return this.#tokens[this.#next + 1];
  }

  /** Takes the next token, or so many. */
  skip(count = 1): void {
    this.#next += count;
  }

  /** Whether the next token is this operator, name or mark of a tag. */
  is(value: string): boolean {
    const { type, value: found } = this.token;
    return type === "operator" || type === "name" ? found === value : type === value;
  }

  /** Takes the next token if it is this one. */
  takes(value: string): boolean {
    if (!this.is(value)) return false;
    this.#next++;
    return true;
  }

  /** Takes the next token, which has to be this one. Error: JinjaError. */
  expect(value: string): void {
    if (!this.takes(value)) this.fail(`'${value}' is expected, not ${this.described()}`);
  }

  /** Takes a name. Error: JinjaError. */
  expectName(): string {
    const { type, value } = this.token;
    if (type !== "name") this.fail(`a name is expected, not ${this.described()}`);
    this.#next++;
    return value;
  }

  /** The next token, for messages. */
  described(): string {
    const { type, value } = this.token;
    if (type === "string" || type === "text") return `a ${type}`;
    if (type === "end") return "the end of the template";
    return `'${value || type}'`;
  }

  /** Throws a JinjaError with the line, by default that of the next token. */
  fail(fault: string, line = this.token.line): never {
    throw new JinjaError(`line ${line}: ${fault}`);
  }

  /** Parses what is nested in something. Error: JinjaError where that is too deep. */
  nested<T>(parse: () => T): T {
    if (++this.#depth > MAXIMUM_NESTING) {
      this.fail(`it nests too deeply: at most ${MAXIMUM_NESTING} levels are allowed`);
    }
    const parsed = parse();
    this.#depth--;
    return parsed;
  }
}
