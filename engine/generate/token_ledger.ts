// Which tokens a piece of an answer is made of, when a parser has taken the answer apart: marks and
// white space around them are in no piece, and a piece may come long after its tokens.

import type { TokenLogprob } from "../event_types.ts";

/** Tokens that came, by the text that is still to be given out. */
export class TokenLedger {
  #text = "";
  #entries: { start: number; end: number; logprobs: readonly TokenLogprob[] }[] = [];

  /** Tokens came, and with them this text. */
  add(text: string, logprobs: readonly TokenLogprob[]): void {
    const start = this.#text.length;
    this.#text += text;
    this.#entries.push({ start, end: this.#text.length, logprobs });
  }

  /** A mark is over, if it came: it is in no piece. */
  skip(mark: string): void {
    const at = this.#text.indexOf(mark);
    if (at >= 0) this.#forget(at + mark.length);
  }

  /** A piece is given out: its tokens. What came before it is forgotten. */
  take(piece: string): TokenLogprob[] {
    const at = this.#text.indexOf(piece);
    // White space from before a mark may be in a piece: then nothing better is known.
    const [first, last] = at < 0 ? [0, this.#text.length] : [at, at + piece.length];
    const taken = this.#entries.filter(({ start, end }) => start < last && end > first);
    this.#entries = this.#entries.filter(({ start }) => start >= last);
    this.#forget(last);
    return taken.flatMap(({ logprobs }) => logprobs);
  }

  /** Nothing that came is in a piece. */
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
