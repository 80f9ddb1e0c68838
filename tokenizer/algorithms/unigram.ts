// Unigram (`tokenizer.ggml.model` "t5"): of all ways to divide a text into pieces, the one with the
// largest sum of log probabilities, found by Viterbi's algorithm over a prefix tree of the pieces.
// Kudo 2018, "Subword Regularization". Normalization and unknown characters are as in llama.cpp,
// whose token ids are the reference.

import { type Algorithm, type Poll, POLL_STEPS } from "./algorithm.ts";
import { Charsmap, type Replacement } from "./charsmap.ts";
import { type Metadata, readBoolean, readBytes } from "../vocabulary/metadata.ts";
import { SPACE_MARK } from "./sentencepiece.ts";
import { ROOT, Trie } from "../tables/trie.ts";
import { PieceKind, type Vocabulary } from "../vocabulary/vocabulary.ts";

/** Difference in log probability between the least likely piece and an unknown character. */
const UNKNOWN_PENALTY = 10;
const SPACE = 0x20;

const encoder = new TextEncoder();
const spaceMark = encoder.encode(SPACE_MARK);

/** The algorithm for one vocabulary. It works on UTF-8, as its tables do. */
export class Unigram implements Algorithm {
  readonly addsSpacePrefix: boolean;
  readonly defaults = { addBos: false, addEos: true, eosToken: 1 };
  readonly #poll: Poll;
  readonly #unknown: number | undefined;
  readonly #mergesSpaces: boolean;
  readonly #prefixesSpace: boolean;
  readonly #charsmap: Charsmap | undefined;
  readonly #pieces = new Trie();
  /** Log probability of each piece. */
  readonly #scores: Float64Array;
  readonly #unknownScore: number;

  /** Reads the tables. Errors: TokenizerError if the normalization table is damaged. */
  constructor(vocabulary: Vocabulary, metadata: Metadata, poll: Poll) {
    this.#poll = poll;
    const table = readBytes(metadata, "tokenizer.ggml.precompiled_charsmap");
    this.#unknown = vocabulary.specialId(metadata, "tokenizer.ggml.unknown_token_id", 2);
    this.#mergesSpaces = readBoolean(metadata, "tokenizer.ggml.remove_extra_whitespaces") ?? false;
    this.#prefixesSpace = readBoolean(metadata, "tokenizer.ggml.add_space_prefix") ?? false;
    this.addsSpacePrefix = this.#prefixesSpace || this.#mergesSpaces;
    this.#charsmap = table?.length ? new Charsmap(table) : undefined;
    this.#scores = new Float64Array(vocabulary.size);
    let lowest = Infinity;
    for (const [id, piece] of vocabulary.pieces.entries()) {
      const kind = vocabulary.kindOf(id);
      if (kind === PieceKind.normal) lowest = Math.min(lowest, vocabulary.scoreOf(id));
      else if (kind !== PieceKind.userDefined && kind !== PieceKind.unused) continue;
      // User-defined pieces have the log probability of certainty, so that they win over all
      // others.
      this.#scores[id] = kind === PieceKind.userDefined ? 0 : vocabulary.scoreOf(id);
      if (piece !== "") this.#pieces.insert(encoder.encode(piece), id);
    }
    this.#unknownScore = Math.fround((lowest < Infinity ? lowest : 0) - UNKNOWN_PENALTY);
  }

  encode(text: string, _isFirst: boolean, ids: number[]): void {
    const bytes = this.#normalize(encoder.encode(text));
    const { tokens, starts } = this.#findBest(bytes);
    const first = ids.length;
    for (let end = bytes.length, last = 0; end > 0; end = starts[end]!) {
      const token = tokens[end]!;
      if (token >= 0) ids.push(token);
      // Adjacent unknown characters become one unknown token.
      else if (this.#unknown !== undefined && last >= 0) ids.push(this.#unknown);
      last = token;
    }
    reverse(ids, first);
  }

  bytesOf(piece: string): Uint8Array {
    return encoder.encode(piece.replaceAll(SPACE_MARK, " "));
  }

  /** For each place the last token of the best division up to it (-1 if unknown), and its start. */
  #findBest(bytes: Uint8Array): { tokens: Int32Array; starts: Int32Array } {
    const pieces = this.#pieces;
    const scores = this.#scores;
    const { length } = bytes;
    const best = new Float64Array(length + 1).fill(-Infinity);
    const tokens = new Int32Array(length + 1);
    const starts = new Int32Array(length + 1);
    best[0] = 0;
    for (let start = 0, next = 0, polled = 0; start < length; start = next) {
      if (start - polled >= POLL_STEPS) {
        polled = start;
        this.#poll();
      }
      next = Math.min(length, start + lengthOfCharacter(bytes[start]!));
      let hasCharacter = false;
      for (let node = ROOT, end = start; end < length;) {
        node = pieces.step(node, bytes[end++]!);
        if (node < 0) break;
        const token = pieces.valueAt(node);
        if (token < 0) continue;
        if (end === next) hasCharacter = true;
        const score = best[start]! + scores[token]!;
        if (!(score > best[end]!)) continue;
        best[end] = score;
        tokens[end] = token;
        starts[end] = start;
      }
      const score = best[start]! + this.#unknownScore;
      if (hasCharacter || !(score > best[next]!)) continue;
      best[next] = score;
      tokens[next] = -1;
      starts[next] = start;
    }
    return { tokens, starts };
  }

  /** Applies the normalization table, and replaces spaces by their mark. */
  #normalize(text: Uint8Array): Uint8Array {
    const output = new Output(text.length + text.length / 2);
    const replacement: Replacement = { length: 0, start: 0, end: 0 };
    let isInWord = false;
    let needsPrefix = this.#prefixesSpace;
    const write = (byte: number) => {
      if (byte === SPACE) {
        isInWord = false;
        if (!this.#mergesSpaces) output.write(spaceMark);
        return;
      }
      if (!isInWord) {
        isInWord = true;
        if (needsPrefix || this.#mergesSpaces) output.write(spaceMark);
        needsPrefix = false;
      }
      output.push(byte);
    };
    for (let start = 0, polled = 0; start < text.length;) {
      if (start - polled >= POLL_STEPS) {
        polled = start;
        this.#poll();
      }
      this.#charsmap?.match(text, start, replacement);
      const { length } = replacement;
      const source = length > 0 ? this.#charsmap!.bytes : text;
      const end = length > 0 ? replacement.end : start + lengthOfCharacter(text[start]!);
      for (let index = length > 0 ? replacement.start : start; index < end; index++) {
        write(source[index]!);
      }
      start = length > 0 ? start + length : end;
    }
    return output.bytes;
  }
}

/** Bytes of the UTF-8 character that begins with `byte`. */
function lengthOfCharacter(byte: number): number {
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

function reverse(ids: number[], from: number): void {
  for (let left = from, right = ids.length - 1; left < right; left++, right--) {
    [ids[left], ids[right]] = [ids[right]!, ids[left]!];
  }
}

/** A buffer of bytes that grows. */
class Output {
  #buffer: Uint8Array;
  #length = 0;

  constructor(capacity: number) {
    this.#buffer = new Uint8Array(capacity + 64);
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  push(byte: number): void {
    if (this.#length === this.#buffer.length) {
      const smaller = this.#buffer;
      this.#buffer = new Uint8Array(2 * smaller.length);
      this.#buffer.set(smaller);
    }
    this.#buffer[this.#length++] = byte;
  }

  write(bytes: Uint8Array): void {
    for (const byte of bytes) this.push(byte);
  }
}
