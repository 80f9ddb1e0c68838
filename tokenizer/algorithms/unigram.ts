// Unigram (`tokenizer.ggml.model` "t5"): of all ways to divide a text into pieces, the one with the
// largest sum of log probabilities, found by Viterbi's algorithm over a prefix tree of the pieces.
// Kudo 2018, "Subword Regularization". Normalization and unknown characters are as in llama.cpp,
// whose token ids are the reference.

import { TokenizerError } from "../errors.ts";
import { ROOT, Trie } from "../tables/trie.ts";
import { type Metadata, readBoolean, readBytes } from "../vocabulary/metadata.ts";
import { PieceKind, type Vocabulary } from "../vocabulary/vocabulary.ts";
import { type Algorithm, type Poll, POLL_STEPS } from "./algorithm.ts";
import { SPACE_MARK } from "./sentencepiece.ts";

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

  /** For each offset the last token of the best division up to it (-1 if unknown), and its start. */
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

// SentencePiece's normalization table (`tokenizer.ggml.precompiled_charsmap`): sequences of bytes
// and their replacements. unigram.ts handles spaces. Format: the length of a double array in bytes
// (u32, little-endian), the array, and the replacements, each ended by a zero byte. Kanda 2018
// describes arrays with XORed edges like these; the packing into 32 bits is that of the Darts-clone
// library.

/** The replacement of the longest sequence that begins at an offset. */
interface Replacement {
  /** Number of bytes that are replaced; 0 if nothing is. */
  length: number;
  /** Start of the replacement in `Charsmap.bytes`. */
  start: number;
  end: number;
}

/** Fields of a unit of the double array. */
const offsetOf = (unit: number) => (unit >>> 10) << ((unit & 1 << 9) >>> 6);
const hasValue = (unit: number) => (unit & 1 << 8) !== 0;
/** The byte that leads to a unit. Units with a value have bit 31 set, so they match no byte. */
const labelOf = (unit: number) => unit & (1 << 31 | 0xff);
const valueOf = (unit: number) => unit & 0x7fffffff;

/** A table of replacements. */
class Charsmap {
  /** The bytes of which replacements are ranges. */
  readonly bytes: Uint8Array;
  readonly #units: Uint32Array;

  /** Reads the table. Errors: TokenizerError if it is cut short. */
  constructor(table: Uint8Array) {
    const view = new DataView(table.buffer, table.byteOffset, table.byteLength);
    const size = table.length < 4 ? Infinity : view.getUint32(0, true);
    if (4 + size > table.length || size % 4 !== 0) {
      throw new TokenizerError(
        `Cannot read the table of normalization: its ${table.length} bytes do not hold the array`,
      );
    }
    this.#units = Uint32Array.from(
      { length: size / 4 },
      (_, index) => view.getUint32(4 + 4 * index, true),
    );
    this.bytes = table.subarray(4 + size);
  }

  /**
   * Finds the replacement of the longest sequence at `start` of `text`. In a damaged table it finds
   * none.
   */
  match(text: Uint8Array, start: number, found: Replacement): void {
    const units = this.#units;
    found.length = 0;
    let node = offsetOf(units[0] ?? 0);
    for (let index = start; index < text.length; index++) {
      const byte = text[index]!;
      node ^= byte;
      const unit = units[node];
      if (unit === undefined || byte === 0 || labelOf(unit) !== byte) return;
      node ^= offsetOf(unit);
      if (!hasValue(unit)) continue;
      const value = valueOf(units[node] ?? 0);
      const end = this.bytes.indexOf(0, value);
      if (end < 0) return;
      found.length = index + 1 - start;
      found.start = value;
      found.end = end;
    }
  }
}
