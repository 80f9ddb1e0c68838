// Byte pair encoding (`tokenizer.ggml.model` "gpt2" and "gemma4"): the text is cut into words, and
// in each the pair that the list of merges has first is joined first.
// Byte-level: words are written in the byte alphabet before. Gemma 4 keeps the characters instead.
// Sennrich et al. 2016; Radford et al. 2019 (GPT-2) for the byte-level form.

import type { Algorithm } from "./algorithm.ts";
import { fromByteAlphabet, toByteAlphabet } from "./byte_alphabet.ts";
import { TokenizerError } from "./errors.ts";
import { joinSymbols } from "./merge.ts";
import { type Metadata, readString, readStrings } from "./metadata.ts";
import { type Pretokenizer, pretokenizerOf, splitWords } from "./pretokenize.ts";
import { SPACE_MARK } from "./sentencepiece.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Words repeat: most of a text comes from the cache. Longer ones than this hardly ever do. */
const CACHED_WORD_LENGTH = 32;
/** At most a few MB; a full cache starts anew, which costs less than tracking what is recent. */
const CACHED_WORDS = 32768;

const encoder = new TextEncoder();

/** The pair-merging algorithm over `vocabulary`. */
export class BytePairEncoding implements Algorithm {
  readonly addsSpacePrefix = false;
  readonly defaults;
  readonly requiresBos: boolean;
  readonly #vocabulary: Vocabulary;
  readonly #pretokenizer: Pretokenizer;
  readonly #merges: readonly string[];
  readonly #cache = new Map<string, readonly number[]>();
  #ranks: Map<string, number> | undefined;

  /** Throws TokenizerError where the metadata has no merges. */
  constructor(vocabulary: Vocabulary, metadata: Metadata) {
    const isGemma = readString(metadata, "tokenizer.ggml.model") === "gemma4";
    const merges = readStrings(metadata, "tokenizer.ggml.merges");
    if (merges === undefined) {
      throw new TokenizerError('Cannot read the vocabulary: "tokenizer.ggml.merges" is missing');
    }
    this.#vocabulary = vocabulary;
    this.#merges = merges;
    this.#pretokenizer = pretokenizerOf(
      isGemma ? "gemma4" : readString(metadata, "tokenizer.ggml.pre"),
    );
    this.defaults = { addBos: this.#pretokenizer.addBos ?? false };
    // Files of Gemma 4 deny it, but without BOS the models fall apart.
    this.requiresBos = isGemma;
  }

  encode(text: string, _isFirst: boolean, ids: number[]): void {
    const marked = this.#pretokenizer.marksSpaces ? text.replaceAll(" ", SPACE_MARK) : text;
    for (const word of splitWords(marked, this.#pretokenizer)) {
      for (const id of this.#encodeWord(word)) ids.push(id);
    }
  }

  bytesOf(piece: string): Uint8Array {
    if (!this.#pretokenizer.marksSpaces) return fromByteAlphabet(piece);
    return encoder.encode(piece.replaceAll(SPACE_MARK, " "));
  }

  #encodeWord(word: string): readonly number[] {
    const cached = this.#cache.get(word);
    if (cached !== undefined) return cached;
    const ids = this.#mergeWord(this.#pretokenizer.marksSpaces ? word : toByteAlphabet(word));
    if (word.length <= CACHED_WORD_LENGTH) {
      if (this.#cache.size >= CACHED_WORDS) this.#cache.clear();
      this.#cache.set(word, ids);
    }
    return ids;
  }

  #mergeWord(word: string): readonly number[] {
    if (this.#pretokenizer.wholeWords?.test(word)) {
      const id = this.#vocabulary.idOf(word);
      if (id !== undefined) return [id];
    }
    const ranks = this.#ranks ??= rankMerges(this.#merges);
    const ends = joinSymbols(
      word,
      (start, middle, end) => ranks.get(`${word.slice(start, middle)} ${word.slice(middle, end)}`),
    );
    const ids: number[] = [];
    let start = 0;
    for (const end of ends) {
      const symbol = word.slice(start, end);
      const id = this.#vocabulary.idOf(symbol);
      if (id === undefined) this.#encodeParts(symbol, ids);
      else ids.push(id);
      start = end;
    }
    return ids;
  }

  /** A symbol without a token: its characters, or their bytes; what has neither is dropped. */
  #encodeParts(symbol: string, ids: number[]): void {
    for (const character of symbol) {
      const id = this.#vocabulary.idOf(character);
      if (id !== undefined) ids.push(id);
      else if (this.#pretokenizer.marksSpaces) {
        for (const byte of encoder.encode(character)) {
          const byteId = this.#vocabulary.idOfByte(byte);
          if (byteId !== undefined) ids.push(byteId);
        }
      }
    }
  }
}

/** Ranks by "left right", the way the file writes them: no splitting, no second table. */
function rankMerges(merges: readonly string[]): Map<string, number> {
  const ranks = new Map<string, number>();
  // Downwards, so that the first of several equal merges counts.
  for (let rank = merges.length - 1; rank >= 0; rank--) ranks.set(merges[rank]!, rank);
  return ranks;
}
