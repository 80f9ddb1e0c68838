// SentencePiece's BPE variant (`tokenizer.ggml.model` "llama"): neighbours join in the order of the
// score of what they become, and characters without a piece fall back to their bytes.
// Unigram vocabularies ("t5") are another algorithm and not read here.
// Kudo & Richardson 2018, "SentencePiece: A simple and language independent subword tokenizer".

import type { Algorithm } from "./algorithm.ts";
import { joinSymbols } from "./merge.ts";
import { type Metadata, readBoolean } from "./metadata.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** What SentencePiece writes for a space: U+2581, lower one eighth block. */
export const SPACE_MARK = "\u2581";

const encoder = new TextEncoder();

/** The score-merging algorithm over `vocabulary`. */
export class SentencePiece implements Algorithm {
  readonly addsSpacePrefix: boolean;
  readonly defaults = { addBos: true, bosToken: 1, eosToken: 2 };
  readonly #vocabulary: Vocabulary;
  readonly #unknown: number | undefined;

  constructor(vocabulary: Vocabulary, metadata: Metadata) {
    this.#vocabulary = vocabulary;
    this.#unknown = vocabulary.specialId(metadata, "tokenizer.ggml.unknown_token_id", 0);
    this.addsSpacePrefix = readBoolean(metadata, "tokenizer.ggml.add_space_prefix") ?? true;
  }

  encode(text: string, isFirst: boolean, ids: number[]): void {
    const vocabulary = this.#vocabulary;
    const prefix = this.addsSpacePrefix && isFirst ? SPACE_MARK : "";
    const marked = prefix + text.replaceAll(" ", SPACE_MARK);
    const ends = joinSymbols(marked, (start, _middle, end) => {
      if (end - start > vocabulary.maximumPieceLength) return undefined;
      const id = vocabulary.idOf(marked.slice(start, end));
      return id === undefined ? undefined : -vocabulary.scoreOf(id);
    });
    let start = 0;
    for (const end of ends) {
      const symbol = marked.slice(start, end);
      const id = vocabulary.idOf(symbol);
      if (id === undefined) this.#encodeBytes(symbol, ids);
      else ids.push(id);
      start = end;
    }
  }

  bytesOf(piece: string): Uint8Array {
    return encoder.encode(piece.replaceAll(SPACE_MARK, " "));
  }

  #encodeBytes(symbol: string, ids: number[]): void {
    for (const byte of encoder.encode(symbol)) {
      const id = this.#vocabulary.idOfByte(byte) ?? this.#unknown;
      if (id !== undefined) ids.push(id);
    }
  }
}
