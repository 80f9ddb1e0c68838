// The tokens of words seen before. Words repeat: most of a text comes from here. Bounded; a full
// cache starts anew, which costs less than tracking what is recent.

import { TextTable } from "../tables/text_table.ts";

/** Longer words hardly ever repeat. In UTF-16 units. */
const LONGEST_WORD = 32;
const WORDS = 1 << 15;
const UNITS = WORDS * 12;
const TOKENS = WORDS * 6;

/** Token ids by word. */
export class WordCache {
  readonly #words = new TextTable(WORDS, UNITS);
  /** For each word the number of its tokens, then these. */
  readonly #tokens = new Int32Array(TOKENS);
  #end = 0;

  /** Appends the tokens of `text[start, end)` to `ids`. False where it has none. */
  append(text: string, start: number, end: number, ids: number[]): boolean {
    if (end - start > LONGEST_WORD) return false;
    const place = this.#words.find(text, start, end);
    if (place < 0) return false;
    const tokens = this.#tokens;
    const last = place + tokens[place]!;
    for (let index = place + 1; index <= last; index++) ids.push(tokens[index]!);
    return true;
  }

  /** Keeps what `ids` has from `from` on as the tokens of `word`. */
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
