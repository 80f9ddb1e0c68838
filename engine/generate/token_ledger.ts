// Finds the tokens of each piece of an answer that a parser has divided. Marks and the white space
// around them are in no piece, and a piece may come long after its tokens.

import type { TokenLogprob } from "../types/mod.ts";

/** The tokens whose text has not been given out yet. */
export class TokenLedger {
  #text = "";
  #entries: { start: number; end: number; logprobs: readonly TokenLogprob[] }[] = [];

  /** Adds tokens and their text. */
  add(text: string, logprobs: readonly TokenLogprob[]): void {
    const start = this.#text.length;
    this.#text += text;
    this.#entries.push({ start, end: this.#text.length, logprobs });
  }

  /** Skips a mark, if it comes next, because it is in no piece. */
  skip(mark: string): void {
    const at = this.#text.indexOf(mark);
    if (at >= 0) this.#forget(at + mark.length);
  }

  /** The tokens of a piece that is given out. Tokens before it are dropped. */
  take(piece: string): TokenLogprob[] {
    const at = this.#text.indexOf(piece);
    // A piece may contain white space from before a mark. Then all tokens are taken.
    const [first, last] = at < 0 ? [0, this.#text.length] : [at, at + piece.length];
    const taken = this.#entries.filter(({ start, end }) => start < last && end > first);
    this.#entries = this.#entries.filter(({ start }) => start >= last);
    this.#forget(last);
    return taken.flatMap(({ logprobs }) => logprobs);
  }

  /** Drops all tokens so far. */
  clear(): void {
    this.#forget(this.#text.length);
  }

  #forget(length: number): void {
    this.#text = this.#text.slice(length);
    this.#entries = this.#entries
      .filter(({ end }) => end > length)
      .map(({ start, end, logprobs }) => ({ start: start - length, end: end - length, logprobs }));
  }
}
