// SentencePiece's variant of BPE (`tokenizer.ggml.model` "llama"): neighbours are joined in the
// order of the scores of the results, and characters without a piece become bytes. Unigram
// vocabularies ("t5") have another algorithm: unigram.ts. Kudo & Richardson 2018, "SentencePiece: A
// simple and language independent subword tokenizer".

import { type Algorithm, type Poll, WordCache } from "./algorithm.ts";
import { type Joins, SymbolList } from "./merge.ts";
import { type Metadata, readBoolean } from "../vocabulary/metadata.ts";
import { RangeHashes } from "../tables/text_table.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/** SentencePiece's character for a space: U+2581, lower one eighth block. */
export const SPACE_MARK = "\u2581";

const encoder = new TextEncoder();

/** The algorithm for one vocabulary. */
export class SentencePiece implements Algorithm {
  readonly addsSpacePrefix: boolean;
  readonly defaults = { addBos: true, bosToken: 1, eosToken: 2 };
  readonly #vocabulary: Vocabulary;
  readonly #unknown: number | undefined;
  readonly #cache = new WordCache();
  readonly #poll: Poll;
  #merger: PieceMerger | undefined;
  #words: RegExp | undefined;

  constructor(vocabulary: Vocabulary, metadata: Metadata, poll: Poll) {
    this.#poll = poll;
    this.#vocabulary = vocabulary;
    this.#unknown = vocabulary.specialId(metadata, "tokenizer.ggml.unknown_token_id", 0);
    this.addsSpacePrefix = readBoolean(metadata, "tokenizer.ggml.add_space_prefix") ?? true;
  }

  encode(text: string, isFirst: boolean, ids: number[]): void {
    const prefix = this.addsSpacePrefix && isFirst ? SPACE_MARK : "";
    const marked = prefix + text.replaceAll(" ", SPACE_MARK);
    const merger = this.#merger ??= new PieceMerger(this.#vocabulary, this.#unknown, this.#poll);
    const words = this.#words ??= wordsOf(this.#vocabulary.pieces);
    words.lastIndex = 0;
    for (let start = 0; words.test(marked); start = words.lastIndex) {
      this.#poll();
      if (this.#cache.append(marked, start, words.lastIndex, ids)) continue;
      const word = marked.slice(start, words.lastIndex);
      const from = ids.length;
      merger.encode(word, ids);
      this.#cache.keep(word, ids, from);
    }
  }

  bytesOf(piece: string): Uint8Array {
    return encoder.encode(piece.replaceAll(SPACE_MARK, " "));
  }
}

/** Joins neighbours that together are a piece. */
class PieceMerger implements Joins {
  readonly #vocabulary: Vocabulary;
  readonly #unknown: number | undefined;
  /** Rank of each piece by its score; the best has 0. */
  readonly #ranks: Int32Array;
  readonly #list: SymbolList;
  readonly #hashes: RangeHashes;
  #word = "";

  constructor(vocabulary: Vocabulary, unknown: number | undefined, poll: Poll) {
    this.#list = new SymbolList(poll);
    this.#vocabulary = vocabulary;
    this.#unknown = unknown;
    this.#ranks = rankScores(vocabulary);
    this.#hashes = new RangeHashes(vocabulary.maximumPieceLength);
  }

  /** Appends the tokens of `word`. */
  encode(word: string, ids: number[]): void {
    const list = this.#list;
    this.#word = word;
    this.#hashes.reset(word);
    list.reset(word.length);
    let end = 0;
    for (const character of word) list.append(end += character.length);
    list.join(this);
    for (let start = 0; start < word.length; start = end) {
      end = list.endOf(start);
      const id = this.#vocabulary.find(word, start, end);
      if (id >= 0) ids.push(id);
      else this.#encodeBytes(word.slice(start, end), ids);
    }
  }

  rankOf(left: number, _right: number, end: number): number {
    if (end - left > this.#vocabulary.maximumPieceLength) return -1;
    const id = this.#vocabulary.find(this.#word, left, end, this.#hashes.of(left, end));
    // Text that is spelled like a control piece is not that piece.
    return id < 0 || this.#vocabulary.isReserved(id) ? -1 : this.#ranks[id]!;
  }

  onJoin(): void {
    // A symbol is identified by its range, so there is nothing to record.
  }

  #encodeBytes(symbol: string, ids: number[]): void {
    for (const byte of encoder.encode(symbol)) {
      const id = this.#vocabulary.idOfByte(byte) ?? this.#unknown;
      if (id !== undefined) ids.push(id);
    }
  }
}

/**
 * An expression that divides a text into words such that no piece crosses their borders. A space
 * mark begins a word, unless some pieces have a mark inside.
 */
function wordsOf(pieces: readonly string[]): RegExp {
  const isCrossed = pieces.some((piece) => /[^\u2581]\u2581/.test(piece));
  return isCrossed ? /[^]+/g : /\u2581*[^\u2581]+|\u2581+/g;
}

/** The rank of each piece by its score. Equal scores have equal ranks. */
function rankScores(vocabulary: Vocabulary): Int32Array {
  const scores = Float64Array.from(vocabulary.pieces, (_, id) => vocabulary.scoreOf(id));
  const rankOf = new Map<number, number>();
  for (const score of scores.toSorted().reverse()) {
    if (!rankOf.has(score)) rankOf.set(score, rankOf.size);
  }
  return Int32Array.from(scores, (score) => rankOf.get(score)!);
}
