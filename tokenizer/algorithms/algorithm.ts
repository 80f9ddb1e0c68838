// The interface of tokenization algorithms: from text without special tokens to ids, and from a
// normal piece back to bytes. Implementations: bpe/bpe.ts, sentencepiece.ts, unigram.ts,
// wordpiece.ts.

import { TextTable } from "../tables/text_table.ts";

/** Called often during long work. An error from it ends the work. */
export type Poll = () => void;

/**
 * Characters or joins between two polls. Each takes some nanoseconds, so this is less than a
 * millisecond.
 */
export const POLL_STEPS = 4096;

/** The algorithm of a vocabulary. Special tokens never reach it. */
export interface Algorithm {
  /**
   * Appends the ids of `text`. `isFirst`: whether it begins the input or follows a special token.
   */
  encode(text: string, isFirst: boolean, ids: number[]): void;
  /** The bytes that a piece of kind "normal" stands for. */
  bytesOf(piece: string): Uint8Array;
  /** Whether encoding a text adds a space at its beginning. */
  readonly addsSpacePrefix: boolean;
  /** The defaults for keys that the metadata lacks. */
  readonly defaults: {
    readonly addBos: boolean;
    readonly addEos?: boolean;
    readonly bosToken?: number | undefined;
    readonly eosToken?: number | undefined;
  };
  /** Whether texts begin with BOS even if the metadata says otherwise. */
  readonly requiresBos?: boolean;
  /** The token that ends every text, whatever the metadata says about EOS. */
  readonly separator?: number | undefined;
  /** The guess, as a sentence. */
  readonly warning?: string;
}

// The tokens of words that were encoded before. Words repeat, so most of a text comes from here. A
// full cache is emptied, which costs less than tracking which words are recent.

/** Longest word in the cache, in UTF-16 units. Longer ones hardly ever repeat. */
const LONGEST_WORD = 32;
const WORDS = 1 << 15;
const UNITS = WORDS * 12;
const TOKENS = WORDS * 6;

/** A cache of token ids by word. */
export class WordCache {
  readonly #words = new TextTable(WORDS, UNITS);
  /** For each word the number of its tokens, followed by the tokens. */
  readonly #tokens = new Int32Array(TOKENS);
  #end = 0;

  /** Appends the tokens of `text[start, end)` to `ids`. False if the word is not in the cache. */
  append(text: string, start: number, end: number, ids: number[]): boolean {
    if (end - start > LONGEST_WORD) return false;
    const found = this.#words.find(text, start, end);
    if (found < 0) return false;
    const tokens = this.#tokens;
    const last = found + tokens[found]!;
    for (let index = found + 1; index <= last; index++) ids.push(tokens[index]!);
    return true;
  }

  /** Stores `ids` from `from` on as the tokens of `word`. */
  keep(word: string, ids: readonly number[], from: number): void {
    if (word.length > LONGEST_WORD) return;
    const count = ids.length - from;
    if (this.#end + count >= TOKENS || !this.#words.add(word, this.#end)) {
      this.#words.clear();
      this.#end = 0;
      this.#words.add(word, 0);
    }
    this.#tokens[this.#end++] = count;
    for (let index = from; index < ids.length; index++) this.#tokens[this.#end++] = ids[index]!;
  }
}
