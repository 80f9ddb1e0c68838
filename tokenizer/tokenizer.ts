// A tokenizer from the vocabulary in a GGUF file: text to token ids and back. It finds special
// tokens and adds BOS and EOS; the vocabulary's algorithm encodes the text between. Ids agree with
// llama.cpp, which the conformance tests check.

import type { Algorithm, Poll } from "./algorithms/algorithm.ts";
import { BytePairEncoding } from "./algorithms/bpe/bpe.ts";
import { findEndOfGeneration } from "./vocabulary/end_of_generation.ts";
import { TokenizerError } from "./errors.ts";
import { type Metadata, readBoolean, readInteger, readString } from "./vocabulary/metadata.ts";
import { SentencePiece } from "./algorithms/sentencepiece.ts";
import { SpecialTokens } from "./vocabulary/special_tokens.ts";
import { type StreamDecoder, Utf8StreamDecoder } from "./stream_decoder.ts";
import { plain, type Text, withSpansOf } from "./text/tainted_text.ts";
import { Unigram } from "./algorithms/unigram.ts";
import { PieceKind, Vocabulary } from "./vocabulary/vocabulary.ts";
import { WordPiece } from "./algorithms/wordpiece.ts";

/** How text becomes tokens. */
export interface EncodeOptions {
  /** Whether control tokens in the text become tokens. Those in data never do. Default true. */
  special?: boolean;
  /** Whether to begin with BOS if the vocabulary wants it and the text has none. Default false. */
  bos?: boolean;
  /** Whether to end with EOS (BERT: the separator) if the vocabulary wants it. Default false. */
  eos?: boolean;
}

/** How tokens become text. */
export interface DecodeOptions {
  /** Whether control tokens become their pieces instead of no text. Default false. */
  special?: boolean;
}

/** How a stream of tokens becomes text. */
export interface StreamDecoderOptions extends DecodeOptions {
  /** Control tokens that become their pieces in any case. Default: none. */
  shown?: readonly string[];
  /**
   * Whether the stream begins a text, so that a space that encoding adds is removed. Default false.
   */
  textStart?: boolean;
}

/** Text to token ids and back. */
export interface Tokenizer {
  /** Number of tokens; ids are below it. */
  readonly vocabularySize: number;
  /** False for a vocabulary of ids only: encode and decode throw. */
  readonly hasText: boolean;
  /** The token that begins a text. */
  readonly bosToken?: number;
  /** The token that ends a text. */
  readonly eosToken?: number;
  /** The tokens that end an answer: EOS, end of turn, end of message, and their like. */
  readonly endOfGeneration: ReadonlySet<number>;
  /** Whether prompts of this vocabulary begin with BOS. */
  readonly addBos: boolean;
  /** Guesses about the vocabulary, as sentences for a log; mostly empty. */
  readonly warnings: readonly string[];
  /** Token ids of `text`. Errors: TokenizerError if the vocabulary has no text. */
  encode(text: Text, options?: EncodeOptions): number[];
  /** The text of `tokens`, the inverse of encode. Errors: TokenizerError for an id out of range. */
  decode(tokens: Iterable<number>, options?: DecodeOptions): string;
  /** The bytes that a token stands for. For control tokens, their piece in UTF-8. */
  tokenBytes(token: number): Uint8Array;
  /** The piece in the spelling of the vocabulary. */
  piece(token: number): string;
  /** Whether it is a control token (BOS, end of turn), which gives no text. */
  isControl(token: number): boolean;
  /** A decoder that takes one token at a time. */
  streamDecoder(options?: StreamDecoderOptions): StreamDecoder;
}

/**
 * Makes the tokenizer of a GGUF file from its key-value pairs.
 *
 * @param poll called often while a text is encoded; an error from it ends the encoding
 * @throws TokenizerError if they describe no supported vocabulary, or contradict themselves
 */
export function createTokenizer(metadata: Metadata, poll: Poll = () => {}): Tokenizer {
  return new GgufTokenizer(metadata, poll);
}

const noBytes = new Uint8Array(0);
const encoder = new TextEncoder();

type MakeAlgorithm = (vocabulary: Vocabulary, metadata: Metadata, poll: Poll) => Algorithm;

/** The algorithm of each `tokenizer.ggml.model`; null for vocabularies of ids only. */
const algorithms: ReadonlyMap<string, MakeAlgorithm | null> = new Map<string, MakeAlgorithm | null>(
  [
    ["llama", (...parts) => new SentencePiece(...parts)],
    ["gpt2", (...parts) => new BytePairEncoding(...parts)],
    ["gemma4", (...parts) => new BytePairEncoding(...parts)],
    ["bert", (...parts) => new WordPiece(...parts)],
    ["t5", (...parts) => new Unigram(...parts)],
    ["none", null],
    ["no_vocab", null],
    ["test", null],
  ],
);

function createAlgorithm(
  vocabulary: Vocabulary,
  metadata: Metadata,
  poll: Poll,
): Algorithm | undefined {
  const model = readString(metadata, "tokenizer.ggml.model") ?? "none";
  const make = algorithms.get(model);
  if (make === undefined) {
    throw new TokenizerError(
      `Cannot use the vocabulary: its model "${model}" is not one of ` +
        [...algorithms.keys()].join(", "),
    );
  }
  if (make !== null && vocabulary.size === 0) {
    throw new TokenizerError('Cannot read the vocabulary: "tokenizer.ggml.tokens" is missing');
  }
  return make?.(vocabulary, metadata, poll);
}

/**
 * The text with lone surrogates replaced. Its length is the same, so the spans of data still fit.
 */
function wellFormed(text: Text): Text {
  return withSpansOf(plain(text).toWellFormed(), text);
}

class GgufTokenizer implements Tokenizer {
  readonly vocabularySize: number;
  readonly bosToken?: number;
  readonly eosToken?: number;
  readonly addBos: boolean;
  readonly endOfGeneration: ReadonlySet<number>;
  readonly warnings: readonly string[];
  readonly #endToken: number | undefined;
  readonly #metadata: Metadata;
  readonly #vocabulary: Vocabulary;
  readonly #algorithm: Algorithm | undefined;
  #specials: SpecialTokens | undefined;

  constructor(metadata: Metadata, poll: Poll) {
    const vocabulary = new Vocabulary(metadata);
    const algorithm = createAlgorithm(vocabulary, metadata, poll);
    const defaults = algorithm?.defaults;
    const special = (role: string, fallback?: number) =>
      vocabulary.specialId(metadata, `tokenizer.ggml.${role}_token_id`, fallback);
    const bos = special("bos", defaults?.bosToken);
    const eos = special("eos", defaults?.eosToken);
    if (bos !== undefined) this.bosToken = bos;
    if (eos !== undefined) this.eosToken = eos;

    const addBos = readBoolean(metadata, "tokenizer.ggml.add_bos_token") ?? defaults?.addBos;
    this.addBos = bos !== undefined && ((algorithm?.requiresBos || addBos) ?? false);
    const addEos = readBoolean(metadata, "tokenizer.ggml.add_eos_token") ?? defaults?.addEos;
    this.#endToken = algorithm?.separator ?? (addEos ? eos : undefined);
    this.warnings = algorithm?.warning === undefined ? [] : [algorithm.warning];

    const architecture = readString(metadata, "general.architecture");
    this.vocabularySize = vocabulary.size ||
      (readInteger(metadata, `${architecture}.vocab_size`) ?? 0);
    this.endOfGeneration = findEndOfGeneration(vocabulary, metadata, eos);
    this.#metadata = metadata;
    this.#vocabulary = vocabulary;
    this.#algorithm = algorithm;
  }

  get hasText(): boolean {
    return this.#algorithm !== undefined;
  }

  encode(text: Text, options: EncodeOptions = {}): number[] {
    const algorithm = this.#require("encode text");
    const specials = this.#specials ??= new SpecialTokens(this.#vocabulary, this.#metadata);
    const ids: number[] = [];
    let isFirst = true;
    for (const part of specials.split(wellFormed(text), options.special ?? true)) {
      if (typeof part === "string") algorithm.encode(part, isFirst, ids);
      else ids.push(part);
      isFirst = typeof part === "number";
    }
    const { bosToken } = this;
    if (options.bos && this.addBos && bosToken !== undefined && ids[0] !== bosToken) {
      ids.unshift(bosToken);
    }
    if (options.eos && this.#endToken !== undefined) ids.push(this.#endToken);
    return ids;
  }

  decode(tokens: Iterable<number>, options: DecodeOptions = {}): string {
    const decoder = this.streamDecoder({ ...options, textStart: true });
    const parts: string[] = [];
    for (const token of tokens) parts.push(decoder.push(token));
    return parts.join("") + decoder.flush();
  }

  streamDecoder(options: StreamDecoderOptions = {}): StreamDecoder {
    const algorithm = this.#require("decode tokens");
    const { special = false, shown = [] } = options;
    const isShown = (token: number) =>
      special || !this.#isSilent(token) || shown.includes(this.piece(token));
    return new Utf8StreamDecoder(
      (token) => isShown(token) ? this.tokenBytes(token) : noBytes,
      (options.textStart ?? false) && algorithm.addsSpacePrefix,
    );
  }

  tokenBytes(token: number): Uint8Array {
    const algorithm = this.#require("decode tokens");
    const piece = this.piece(token);
    switch (this.#vocabulary.kindOf(token)) {
      case PieceKind.normal:
        return algorithm.bytesOf(piece);
      case PieceKind.byte:
        return /^<0x[0-9A-F]{2}>$/.test(piece)
          ? Uint8Array.of(parseInt(piece.slice(3, 5), 16))
          : encoder.encode(piece);
      case PieceKind.unused:
        return noBytes;
      default:
        return encoder.encode(piece);
    }
  }

  piece(token: number): string {
    const piece = this.#vocabulary.pieces[token];
    if (piece !== undefined) return piece;
    throw new TokenizerError(
      `Cannot look up token ${token}: the vocabulary has ${this.#vocabulary.size}`,
    );
  }

  isControl(token: number): boolean {
    return this.#vocabulary.kindOf(token) === PieceKind.control;
  }

  #isSilent(token: number): boolean {
    return this.isControl(token) || this.#vocabulary.kindOf(token) === PieceKind.unknown;
  }

  #require(task: string): Algorithm {
    if (this.#algorithm !== undefined) return this.#algorithm;
    const model = readString(this.#metadata, "tokenizer.ggml.model");
    const state = model === undefined ? "the file has none" : `its model "${model}" has no text`;
    throw new TokenizerError(`Cannot ${task} with this vocabulary: ${state}`);
  }
}
