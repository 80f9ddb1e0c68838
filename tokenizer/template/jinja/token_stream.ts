// The tokens of a template, which a parser takes one after the other, and the errors for unexpected
// ones.

import type { Token } from "./lexer.ts";
import { JinjaError } from "./values/values.ts";

/**
 * How deep brackets, signs and blocks may be nested. Python, which runs jinja2's templates, takes
 * at most 200 brackets.
 */
const MAXIMUM_NESTING = 200;

export class TokenStream {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  /** @param tokens all tokens, of which the last marks the end */
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The next token. */
  get token(): Token {
    return this.#tokens[this.#next]!;
  }

  /** The token after the next one. */
  get following(): Token | undefined {
    return this.#tokens[this.#next + 1];
  }

  /** Skips the next token, or several. */
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

  /** Takes the next token, which has to be this one. Errors: JinjaError. */
  expect(value: string): void {
    if (!this.takes(value)) this.fail(`'${value}' is expected, not ${this.described()}`);
  }

  /** Takes a name. Errors: JinjaError. */
  expectName(): string {
    const { type, value } = this.token;
    if (type !== "name") this.fail(`a name is expected, not ${this.described()}`);
    this.#next++;
    return value;
  }

  /** The next token, for error messages. */
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

  /** Parses something nested. Errors: JinjaError if the nesting is too deep. */
  nested<T>(parse: () => T): T {
    if (++this.#depth > MAXIMUM_NESTING) {
      this.fail(`it nests too deeply: at most ${MAXIMUM_NESTING} levels are allowed`);
    }
    const parsed = parse();
    this.#depth--;
    return parsed;
  }
}
