// Byte pair encoding of a single word: its bytes or characters, joined by the merges. A joined
// symbol without a token in the vocabulary is divided again, as in llama.cpp.

import type { Poll } from "../algorithm.ts";
import { characterOfByte } from "./byte_alphabet.ts";
import { type Joins, SymbolList } from "../merge.ts";
import { MergeTable } from "./merge_table.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

const encoder = new TextEncoder();

/** Encodes words by joining their parts. */
export class WordMerger implements Joins {
  readonly #vocabulary: Vocabulary;
  readonly #merges: MergeTable;
  readonly #isByteLevel: boolean;
  readonly #symbolOfByte: readonly number[];
  readonly #list: SymbolList;
  /** The symbol that starts at each place of the word, -1 if it is unknown. */
  #symbols = new Int32Array(64);
  #bytes = new Uint8Array(64);

  /** @param isByteLevel whether pieces are written in the byte alphabet */
  constructor(merges: readonly string[], vocabulary: Vocabulary, isByteLevel: boolean, poll: Poll) {
    this.#list = new SymbolList(poll);
    this.#vocabulary = vocabulary;
    this.#merges = new MergeTable(merges, vocabulary);
    this.#isByteLevel = isByteLevel;
    this.#symbolOfByte = characterOfByte.map((character) => this.#merges.symbolOf(character));
  }

  /** Appends the tokens of `word`. */
  encode(word: string, ids: number[]): void {
    const end = this.#isByteLevel ? this.#startBytes(word) : this.#startCharacters(word);
    this.#list.join(this);
    for (let start = 0; start < end; start = this.#list.endOf(start)) {
      const symbol = this.#symbols[start]!;
      if (symbol >= this.#vocabulary.size) this.#encodeParts(this.#merges.textOf(symbol), ids);
      else if (symbol >= 0) ids.push(symbol);
      else if (!this.#isByteLevel) {
        this.#encodeParts(word.slice(start, this.#list.endOf(start)), ids);
      }
    }
  }

  rankOf(left: number, right: number): number {
    return this.#merges.rankOf(this.#symbols[left]!, this.#symbols[right]!);
  }

  onJoin(left: number, rank: number): void {
    this.#symbols[left] = this.#merges.resultOf(rank);
  }

  /** Starts with the UTF-8 bytes of `word`; returns their number. */
  #startBytes(word: string): number {
    this.#reset(3 * word.length);
    const { written } = encoder.encodeInto(word, this.#bytes);
    for (let index = 0; index < written; index++) {
      this.#symbols[index] = this.#symbolOfByte[this.#bytes[index]!]!;
      this.#list.append(index + 1);
    }
    return written;
  }

  /** Starts with the characters of `word`; returns its length in UTF-16. */
  #startCharacters(word: string): number {
    this.#reset(word.length);
    let end = 0;
    for (const character of word) {
      this.#symbols[end] = this.#merges.symbolOf(character);
      this.#list.append(end += character.length);
    }
    return end;
  }

  #reset(length: number): void {
    if (length > this.#symbols.length) {
      this.#symbols = new Int32Array(2 * length);
      this.#bytes = new Uint8Array(2 * length);
    }
    this.#list.reset(length);
  }

  /**
   * Appends the characters of a symbol without a token, or their bytes. Characters with neither are
   * dropped.
   */
  #encodeParts(symbol: string, ids: number[]): void {
    for (const character of symbol) {
      const id = this.#vocabulary.idOf(character);
      if (id !== undefined) ids.push(id);
      else if (!this.#isByteLevel) {
        for (const byte of encoder.encode(character)) {
          const byteId = this.#vocabulary.idOfByte(byte);
          if (byteId !== undefined) ids.push(byteId);
        }
      }
    }
  }
}
