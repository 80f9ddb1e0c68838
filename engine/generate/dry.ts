// DRY, "don't repeat yourself" (p-e-w, text-generation-webui#5677): lowers the logits of tokens that would
// continue a repetition of the last tokens, the more the longer it is already. A text that breaks
// sequences, such as a line break, ends what counts as repeated. On the host, between two tokens.

import type { Tokenizer } from "../../tokenizer/mod.ts";

/** The options of DRY. */
export interface DryOptions {
  /** Taken from the logit of a token that continues a repetition of `allowedLength` tokens. */
  readonly multiplier: number;
  /** By what this grows with each further token. At least 1. */
  readonly base: number;
  /** Tokens of a repetition that is not penalized. At least 1. */
  readonly allowedLength: number;
  /** How many of the last tokens are seen. */
  readonly lastN: number;
  /** Texts after which nothing counts as repeated. */
  readonly breakers: readonly string[];
}

/** Where a penalty stops growing: the exponent of a float ends. */
const MOST_LOGARITHM = 88;

const encoder = new TextEncoder();

/** The repetitions of one sequence. */
export class Dry {
  readonly #options: DryOptions;
  readonly #tokenizer: Tokenizer;
  /** Breakers as bytes, a character each, because a token may end within a character. */
  readonly #breakers: readonly string[];
  readonly #longestBreaker: number;
  /** Most tokens of a repetition that are told apart. */
  readonly #mostLength: number;
  /** Tokens that were searched for breakers, the end of their text, and the number up to the last breaker. */
  #searched = 0;
  #tail = "";
  #broken = 0;

  constructor(options: DryOptions, tokenizer: Tokenizer) {
    this.#options = options;
    this.#tokenizer = tokenizer;
    this.#breakers = options.breakers.filter((text) => text !== "").map((text) =>
      byteText(encoder.encode(text))
    );
    this.#longestBreaker = Math.max(1, ...this.#breakers.map(({ length }) => length));
    this.#mostLength = options.allowedLength +
      (options.base > 1.000001 ? Math.floor(MOST_LOGARITHM / Math.log(options.base)) : 0);
  }

  /** What the logits of tokens lose after these, the prompt's included. */
  penalties(tokens: readonly number[]): Map<number, number> {
    this.#search(tokens);
    const { allowedLength, lastN, multiplier, base } = this.#options;
    const begin = Math.max(0, tokens.length - lastN);
    const most = Math.min(tokens.length - this.#broken, this.#mostLength);
    const longest = new Map<number, number>();
    if (most < allowedLength) return longest;
    const last = tokens.length - 1;
    for (let end = begin; end < last; end++) {
      let length = 0;
      while (
        length < most && end - length >= begin && tokens[end - length] === tokens[last - length]
      ) {
        length++;
      }
      if (length < allowedLength) continue;
      const next = tokens[end + 1]!;
      if (length > (longest.get(next) ?? 0)) longest.set(next, length);
    }
    for (const [token, length] of longest) {
      if (this.#breaks(this.#textOf(token))) longest.delete(token);
      else longest.set(token, multiplier * base ** (length - allowedLength));
    }
    return longest;
  }

  /** Notes where the last breaker of a sequence ends. */
  #search(tokens: readonly number[]): void {
    for (; this.#searched < tokens.length; this.#searched++) {
      const text = this.#tail + this.#textOf(tokens[this.#searched]!);
      if (this.#breaks(text, this.#tail.length)) this.#broken = this.#searched + 1;
      this.#tail = this.#longestBreaker > 1 ? text.slice(1 - this.#longestBreaker) : "";
    }
  }

  /** Whether a breaker ends after the first characters of a text. */
  #breaks(text: string, after = 0): boolean {
    return this.#breakers.some((one) => text.includes(one, Math.max(0, after - one.length + 1)));
  }

  #textOf(token: number): string {
    const { hasText, vocabularySize } = this.#tokenizer;
    return hasText && token < vocabularySize ? byteText(this.#tokenizer.tokenBytes(token)) : "";
  }
}

/** Bytes as a text, a character each. */
function byteText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
