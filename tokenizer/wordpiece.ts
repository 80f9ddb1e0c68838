// WordPiece (`tokenizer.ggml.model` "bert"): words are normalized as BERT does and covered from the
// left by the longest pieces; a word that cannot be covered whole is the unknown token.
// GGUF marks the piece that begins a word with U+2581, where BERT's own files mark the others.
// Devlin et al. 2019; details in the reading of llama.cpp, whose token ids are the reference.

import type { Algorithm } from "./algorithm.ts";
import { type Metadata, readBoolean } from "./metadata.ts";
import { SPACE_MARK } from "./sentencepiece.ts";
import type { Vocabulary } from "./vocabulary.ts";

const encoder = new TextEncoder();

const blank = /^\p{White_Space}$/u;
const ignored = /^[\0\uFFFD\p{Cc}\p{Cf}\p{Co}\p{Cs}]$/u;
const accent = /^\p{M}$/u;
const punctuation = /^(?:\p{P}|[$+<=>^`|~])$/u;
const ideograph =
  /^[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]$/u;

/** The longest-match algorithm over `vocabulary`. */
export class WordPiece implements Algorithm {
  readonly addsSpacePrefix = true;
  readonly defaults;
  readonly separator: number | undefined;
  readonly #vocabulary: Vocabulary;
  readonly #unknown: number | undefined;
  readonly #lowercases: boolean;
  readonly #stripsAccents: boolean;

  constructor(vocabulary: Vocabulary, metadata: Metadata) {
    const special = (role: string, fallback: number) =>
      vocabulary.specialId(metadata, `tokenizer.ggml.${role}_token_id`, fallback);
    this.#vocabulary = vocabulary;
    this.#unknown = special("unknown", 100);
    this.defaults = { addBos: true, bosToken: special("cls", 101) };
    // The misspelling is that of the format.
    this.separator = special("seperator", 102);
    const option = (name: string) => readBoolean(metadata, `tokenizer.ggml.normalizer.${name}`);
    this.#lowercases = option("lowercase") ?? true;
    this.#stripsAccents = option("strip_accents") ?? this.#lowercases;
  }

  encode(text: string, _isFirst: boolean, ids: number[]): void {
    for (const word of this.#words(text)) {
      const tokens = this.#cover(SPACE_MARK + word);
      if (tokens.length > 0) { for (const token of tokens) ids.push(token); }
      else if (this.#unknown !== undefined) ids.push(this.#unknown);
    }
  }

  bytesOf(piece: string): Uint8Array {
    return encoder.encode(piece.replaceAll(SPACE_MARK, " "));
  }

  /** The tokens that cover `word`, the longest first from the left; none where one is missing. */
  #cover(word: string): number[] {
    const tokens: number[] = [];
    for (let start = 0; start < word.length;) {
      let end = Math.min(word.length, start + this.#vocabulary.maximumPieceLength);
      let token: number | undefined;
      while (end > start) {
        token = this.#vocabulary.idOf(word.slice(start, end));
        if (token !== undefined) break;
        end--;
      }
      if (token === undefined) return [];
      tokens.push(token);
      start = end;
    }
    return tokens;
  }

  /** Normalized words; punctuation and ideographs are words of their own. */
  #words(text: string): string[] {
    const words: string[] = [];
    let word = "";
    const finish = () => {
      if (word !== "") words.push(word);
      word = "";
    };
    for (const character of text) {
      const plain = this.#stripsAccents ? firstCodePoint(character.normalize("NFD")) : character;
      if (blank.test(plain)) finish();
      else if (ignored.test(plain) || (this.#stripsAccents && accent.test(plain))) continue;
      else {
        const normal = this.#lowercases ? firstCodePoint(plain.toLowerCase()) : plain;
        const standsAlone = punctuation.test(plain) || ideograph.test(plain);
        if (standsAlone) finish();
        word += normal;
        if (standsAlone) finish();
      }
    }
    finish();
    return words;
  }
}

/** What follows the first code point of a decomposition is an accent, which is dropped anyway. */
function firstCodePoint(text: string): string {
  return String.fromCodePoint(text.codePointAt(0)!);
}
