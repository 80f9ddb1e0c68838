// WordPiece (`tokenizer.ggml.model` "bert"): each word is normalized as in BERT and divided into
// the longest pieces from the left. A word that cannot be divided completely is the unknown token.
// GGUF marks pieces that begin a word with U+2581, while BERT's own files mark the others. Devlin
// et al. 2019; the details are those of llama.cpp, whose token ids are the reference.

import { ROOT, Trie, unitsOf } from "../tables/trie.ts";
import { type Metadata, readBoolean } from "../vocabulary/metadata.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { type Algorithm, type Poll, POLL_STEPS } from "./algorithm.ts";
import { SPACE_MARK } from "./sentencepiece.ts";

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

// BERT's normalization of characters before WordPiece: what each becomes, and whether it is a
// letter, separates words, is a word of its own, or is dropped. Results are cached, because Unicode
// properties are slow. Devlin et al. 2019, BasicTokenizer; the details are those of llama.cpp,
// which keeps the first character of a decomposition and drops the others, whether they are accents
// or not.

const blank = /^\p{White_Space}$/u;
const ignored = /^[\0\uFFFD\p{Cc}\p{Cf}\p{Co}\p{Cs}]$/u;
const accent = /^\p{M}$/u;
const punctuation = /^(?:\p{P}|[$+<=>^`|~])$/u;
const ideograph =
  /^[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]$/u;

/** BERT's classes of characters. They are above 0, because 0 means "not known yet". */
const CharacterClass = { letter: 1, blank: 2, ignored: 3, alone: 4 } as const;

/** Bits for a code point. */
const CODE_POINT = 21;

/** Normalizes case and accents, as a vocabulary wants it. */
class BertNormalizer {
  readonly #lowercases: boolean;
  readonly #stripsAccents: boolean;
  /** For each code point its class, above the code point that it becomes; 0 if not known yet. */
  readonly #known = new Uint32Array(0x110000);

  constructor(lowercases: boolean, stripsAccents: boolean) {
    this.#lowercases = lowercases;
    this.#stripsAccents = stripsAccents;
  }

  /** The class of a character, one of `CharacterClass`. */
  classOf(codePoint: number): number {
    return this.#read(codePoint) >>> CODE_POINT;
  }

  /** The code point that a character becomes. */
  normalized(codePoint: number): number {
    return this.#read(codePoint) & (1 << CODE_POINT) - 1;
  }

  #read(codePoint: number): number {
    return this.#known[codePoint] ||= this.#classify(String.fromCodePoint(codePoint));
  }

  #classify(character: string): number {
    const plain = this.#stripsAccents ? firstOf(character.normalize("NFD")) : character;
    const normal = this.#lowercases ? firstOf(plain.toLowerCase()) : plain;
    return this.#kindOf(plain) << CODE_POINT | normal.codePointAt(0)!;
  }

  #kindOf(character: string): number {
    if (blank.test(character)) return CharacterClass.blank;
    if (ignored.test(character)) return CharacterClass.ignored;
    if (this.#stripsAccents && accent.test(character)) return CharacterClass.ignored;
    const isAlone = punctuation.test(character) || ideograph.test(character);
    return isAlone ? CharacterClass.alone : CharacterClass.letter;
  }
}

/** The code points after the first one of a decomposition are accents, which are dropped. */
function firstOf(text: string): string {
  return String.fromCodePoint(text.codePointAt(0)!);
}
