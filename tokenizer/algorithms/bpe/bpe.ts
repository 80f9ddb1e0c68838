// Byte pair encoding (`tokenizer.ggml.model` "gpt2" and "gemma4"): the text is divided into words,
// and within each, pairs are joined in the order of the list of merges. In the byte-level form
// words are first written in the byte alphabet; Gemma 4 keeps the characters. Sennrich et al. 2016;
// Radford et al. 2019 (GPT-2) for the byte-level form.

import { type Algorithm, type Poll, WordCache } from "../algorithm.ts";
import { fromByteAlphabet, toByteAlphabet } from "./byte_alphabet.ts";
import { TokenizerError } from "../../errors.ts";
import { type Metadata, readString, readStrings } from "../../vocabulary/metadata.ts";
import {
  forEachWord,
  guessPretokenizer,
  type Pretokenizer,
  pretokenizerOf,
} from "./pretokenizers.ts";
import { SPACE_MARK } from "../sentencepiece.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { WordMerger } from "./word_merger.ts";

const encoder = new TextEncoder();

/** The algorithm for one vocabulary. */
export class BytePairEncoding implements Algorithm {
  readonly addsSpacePrefix = false;
  readonly defaults;
  readonly requiresBos: boolean;
  readonly warning?: string;
  readonly #vocabulary: Vocabulary;
  readonly #pretokenizer: Pretokenizer;
  readonly #merges: readonly string[];
  readonly #cache = new WordCache();
  readonly #poll: Poll;
  #merger: WordMerger | undefined;

  /** Reads the tables. Errors: TokenizerError if the metadata has no merges. */
  constructor(vocabulary: Vocabulary, metadata: Metadata, poll: Poll) {
    const isGemma = readString(metadata, "tokenizer.ggml.model") === "gemma4";
    const merges = readStrings(metadata, "tokenizer.ggml.merges");
    if (merges === undefined) {
      throw new TokenizerError('Cannot read the vocabulary: "tokenizer.ggml.merges" is missing');
    }
    const name = isGemma ? "gemma4" : readString(metadata, "tokenizer.ggml.pre");
    const known = pretokenizerOf(name);
    if (known === undefined) {
      this.warning = `Cannot tell how "tokenizer.ggml.pre" of "${name}" cuts words: ` +
        "taking the rule of most models, token ids may differ from those in training";
    }
    this.#poll = poll;
    this.#vocabulary = vocabulary;
    this.#merges = merges;
    this.#pretokenizer = known ?? guessPretokenizer();
    this.defaults = { addBos: this.#pretokenizer.addBos ?? false };
    this.requiresBos = this.#pretokenizer.requiresBos ?? false;
  }

  encode(text: string, _isFirst: boolean, ids: number[]): void {
    const cache = this.#cache;
    const isMarked = this.#pretokenizer.alphabet === "marked";
    const marked = isMarked ? text.replaceAll(" ", SPACE_MARK) : text;
    forEachWord(marked, this.#pretokenizer, (part, start, end) => {
      this.#poll();
      if (cache.append(part, start, end, ids)) return;
      const word = part.slice(start, end);
      const from = ids.length;
      this.#encodeWord(word, ids);
      cache.keep(word, ids, from);
    });
  }

  bytesOf(piece: string): Uint8Array {
    switch (this.#pretokenizer.alphabet) {
      case "marked":
        return encoder.encode(piece.replaceAll(SPACE_MARK, " "));
      case "plain":
        return encoder.encode(piece);
      default:
        return fromByteAlphabet(piece);
    }
  }

  #encodeWord(word: string, ids: number[]): void {
    const { alphabet = "bytes", wholeWords } = this.#pretokenizer;
    const isByteLevel = alphabet === "bytes";
    if (wholeWords?.test(word)) {
      const id = this.#vocabulary.idOf(isByteLevel ? toByteAlphabet(word) : word);
      if (id !== undefined && !this.#vocabulary.isReserved(id)) {
        ids.push(id);
        return;
      }
    }
    this.#merger ??= new WordMerger(this.#merges, this.#vocabulary, isByteLevel, this.#poll);
    this.#merger.encode(word, ids);
  }
}
