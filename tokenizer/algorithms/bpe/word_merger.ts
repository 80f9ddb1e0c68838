// Byte pair encoding of a single word: its bytes or characters, joined by the merges. A joined
// symbol without a token in the vocabulary is divided again, as in llama.cpp.

import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Poll } from "../algorithm.ts";
import { type Joins, SymbolList } from "../merge.ts";
import { characterOfByte } from "./byte_alphabet.ts";

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

// The merges of byte pair encoding, by the two symbols that they join. A symbol is a token id, or a
// number above all ids for symbols that only occur in merges, because vocabularies lack some pieces
// on the way to longer ones. A hash table over typed arrays, because there are up to half a million
// merges.

/** Odd multipliers with well-spread bits, so that ids close to each other do not collide. */
const LEFT = 0x9e3779b1;
const RIGHT = 0x85ebca6b;

/** The ranks of merges, and their results. */
class MergeTable {
  readonly #vocabulary: Vocabulary;
  /** Symbols without a token, by text, and the text of each. */
  readonly #others = new Map<string, number>();
  readonly #otherTexts: string[] = [];
  /** Rank at each slot, -1 for a free slot. */
  readonly #slots: Int32Array;
  readonly #shift: number;
  /** For each rank: left symbol, right symbol, result. */
  readonly #triples: Int32Array;

  /** @param merges "left right" in the order of their ranks. Of equal ones the first counts */
  constructor(merges: readonly string[], vocabulary: Vocabulary) {
    const bits = 33 - Math.clz32(merges.length);
    this.#vocabulary = vocabulary;
    this.#slots = new Int32Array(1 << bits).fill(-1);
    this.#shift = 32 - bits;
    this.#triples = new Int32Array(3 * merges.length);
    for (const [rank, merge] of merges.entries()) {
      // From 1 on, because a piece may begin with a space.
      const space = merge.indexOf(" ", 1);
      if (space > 0) this.#add(rank, merge, space);
    }
  }

  /** The symbol of `text`, -1 if neither vocabulary nor merges have it. */
  symbolOf(text: string): number {
    return this.#vocabulary.idOf(text) ?? this.#others.get(text) ?? -1;
  }

  /** The text of a symbol without a token. */
  textOf(symbol: number): string {
    return this.#otherTexts[symbol - this.#vocabulary.size]!;
  }

  /** Rank of joining two symbols, -1 if they are never joined. */
  rankOf(left: number, right: number): number {
    return this.#slots[this.#slotOf(left, right)]!;
  }

  resultOf(rank: number): number {
    return this.#triples[3 * rank + 2]!;
  }

  #add(rank: number, merge: string, space: number): void {
    const left = this.#obtain(merge, 0, space);
    const right = this.#obtain(merge, space + 1, merge.length);
    const slot = this.#slotOf(left, right);
    if (this.#slots[slot]! >= 0) return;
    const joined = merge.slice(0, space) + merge.slice(space + 1);
    this.#slots[slot] = rank;
    this.#triples[3 * rank] = left;
    this.#triples[3 * rank + 1] = right;
    this.#triples[3 * rank + 2] = this.#obtain(joined, 0, joined.length);
  }

  /** The symbol of `line[start, end)`, a new one if it has none. */
  #obtain(line: string, start: number, end: number): number {
    const token = this.#vocabulary.find(line, start, end);
    // Text that is spelled like a control piece is not that piece.
    if (token >= 0 && !this.#vocabulary.isReserved(token)) return token;
    const text = line.slice(start, end);
    const known = this.#others.get(text);
    if (known !== undefined) return known;
    const symbol = this.#vocabulary.size + this.#otherTexts.push(text) - 1;
    this.#others.set(text, symbol);
    return symbol;
  }

  #slotOf(left: number, right: number): number {
    const slots = this.#slots;
    const triples = this.#triples;
    const mask = slots.length - 1;
    let slot = Math.imul(Math.imul(left, LEFT) ^ right, RIGHT) >>> this.#shift;
    for (;; slot = slot + 1 & mask) {
      const rank = slots[slot]!;
      if (rank < 0 || (triples[3 * rank] === left && triples[3 * rank + 1] === right)) return slot;
    }
  }
}
