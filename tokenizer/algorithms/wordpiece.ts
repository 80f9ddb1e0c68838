// WordPiece (`tokenizer.ggml.model` "bert"): each word is normalized as in BERT and divided into
// the longest pieces from the left. A word that cannot be divided completely is the unknown token.
// GGUF marks pieces that begin a word with U+2581, while BERT's own files mark the others. Devlin
// et al. 2019; the details are those of llama.cpp, whose token ids are the reference.

import { type Algorithm, type Poll, POLL_STEPS } from "./algorithm.ts";
import { BertNormalizer, CharacterClass } from "./bert_normalizer.ts";
import { type Metadata, readBoolean } from "../vocabulary/metadata.ts";
import { SPACE_MARK } from "./sentencepiece.ts";
import { ROOT, Trie, unitsOf } from "../tables/trie.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

const encoder = new TextEncoder();

/** The algorithm for one vocabulary. */
export class WordPiece implements Algorithm {
  readonly addsSpacePrefix = true;
  readonly defaults;
  readonly separator: number | undefined;
  readonly #vocabulary: Vocabulary;
  readonly #unknown: number | undefined;
  readonly #normalizer: BertNormalizer;
  readonly #poll: Poll;
  #pieces: Trie | undefined;

  constructor(vocabulary: Vocabulary, metadata: Metadata, poll: Poll) {
    this.#poll = poll;
    const special = (role: string, fallback: number) =>
      vocabulary.specialId(metadata, `tokenizer.ggml.${role}_token_id`, fallback);
    this.#vocabulary = vocabulary;
    this.#unknown = special("unknown", 100);
    this.defaults = { addBos: true, bosToken: special("cls", 101) };
    // The format itself has this misspelling.
    this.separator = special("seperator", 102);
    const option = (name: string) => readBoolean(metadata, `tokenizer.ggml.normalizer.${name}`);
    const lowercases = option("lowercase") ?? true;
    this.#normalizer = new BertNormalizer(lowercases, option("strip_accents") ?? lowercases);
  }

  encode(text: string, _isFirst: boolean, ids: number[]): void {
    const normalizer = this.#normalizer;
    // Large enough for the mark, because a normalized character has at most two units.
    const word = new Uint16Array(text.length * 2 + 1);
    word[0] = SPACE_MARK.charCodeAt(0);
    let length = 1;
    const finish = () => {
      if (length > 1) this.#cover(word, length, ids);
      length = 1;
    };
    for (let index = 0, polled = 0; index < text.length;) {
      if (index - polled >= POLL_STEPS) {
        polled = index;
        this.#poll();
      }
      const codePoint = text.codePointAt(index)!;
      index += codePoint > 0xffff ? 2 : 1;
      const kind = normalizer.classOf(codePoint);
      if (kind === CharacterClass.ignored) continue;
      if (kind !== CharacterClass.letter) finish();
      if (kind === CharacterClass.blank) continue;
      length = writeCodePoint(normalizer.normalized(codePoint), word, length);
      if (kind === CharacterClass.alone) finish();
    }
    finish();
  }

  bytesOf(piece: string): Uint8Array {
    return encoder.encode(piece.replaceAll(SPACE_MARK, " "));
  }

  /** Appends the tokens of a word, the longest first from the left. */
  #cover(word: Uint16Array, length: number, ids: number[]): void {
    const pieces = this.#pieces ??= trieOf(this.#vocabulary);
    const before = ids.length;
    for (let start = 0; start < length;) {
      let token = -1;
      let end = start;
      let node = ROOT;
      for (let index = start; index < length; index++) {
        node = pieces.step(node, word[index]!);
        if (node < 0) break;
        if (pieces.valueAt(node) < 0) continue;
        token = pieces.valueAt(node);
        end = index + 1;
      }
      if (token < 0) {
        ids.length = before;
        if (this.#unknown !== undefined) ids.push(this.#unknown);
        return;
      }
      ids.push(token);
      start = end;
    }
  }
}

function trieOf(vocabulary: Vocabulary): Trie {
  const trie = new Trie();
  for (const [id, piece] of vocabulary.pieces.entries()) {
    if (piece !== "") trie.insert(unitsOf(piece), id);
  }
  return trie;
}

/** Writes a character in UTF-16 at `end`, and returns its end. */
function writeCodePoint(codePoint: number, units: Uint16Array, end: number): number {
  if (codePoint > 0xffff) {
    units[end++] = 0xd7c0 + (codePoint >> 10);
    units[end++] = 0xdc00 + (codePoint & 0x3ff);
  } else units[end++] = codePoint;
  return end;
}
