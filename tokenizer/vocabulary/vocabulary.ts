// The pieces of a vocabulary with their scores and kinds, and the ids of special tokens. The
// algorithms split and join text. Format: ggml's GGUF specification, section "Tokenizer".

import { TokenizerError } from "../errors.ts";
import { type Metadata, readInteger, readNumbers, readStrings } from "./metadata.ts";
import { TextTable } from "../tables/text_table.ts";

/** The kinds of pieces, as `tokenizer.ggml.token_type` numbers them. */
export const PieceKind = {
  normal: 1,
  unknown: 2,
  control: 3,
  userDefined: 4,
  unused: 5,
  byte: 6,
} as const;

/** Pieces by token id, and token ids by piece. */
export class Vocabulary {
  readonly pieces: readonly string[];
  readonly #scores: ArrayLike<number> | undefined;
  readonly #kinds: Uint8Array;
  /**
   * 1 for pieces that are control or unknown pieces, according to the file or to what is known of
   * its family.
   */
  readonly #reserved: Uint8Array;
  readonly #ids: TextTable;
  readonly #maximumPieceLength: number;
  #idsOfBytes: readonly (number | undefined)[] | undefined;

  /**
   * Reads the vocabulary. Errors: TokenizerError if a list has the wrong type or is shorter than
   * the pieces.
   */
  constructor(metadata: Metadata) {
    this.pieces = readStrings(metadata, "tokenizer.ggml.tokens") ?? [];
    const size = this.pieces.length;
    this.#scores = readPerPiece(metadata, "tokenizer.ggml.scores", size);
    const kinds = readPerPiece(metadata, "tokenizer.ggml.token_type", size);
    this.#kinds = new Uint8Array(size).fill(PieceKind.normal);
    this.#reserved = new Uint8Array(size);
    let longest = 0;
    let units = 0;
    for (let id = 0; id < size; id++) {
      if (kinds !== undefined) this.setKind(id, kinds[id]!);
      const { length } = this.pieces[id]!;
      if (length > longest) longest = length;
      units += length;
    }
    this.#maximumPieceLength = longest;
    this.#ids = new TextTable(size, units);
    for (let id = 0; id < size; id++) {
      // Of several equal pieces, text is encoded to the first one.
      if (this.pieces[id] !== "") this.#ids.add(this.pieces[id]!, id);
    }
  }

  /** Number of tokens. */
  get size(): number {
    return this.pieces.length;
  }

  /** Length of the longest piece in UTF-16 units. Longer strings need not be looked up. */
  get maximumPieceLength(): number {
    return this.#maximumPieceLength;
  }

  /** The token whose piece is `piece`. */
  idOf(piece: string): number | undefined {
    const id = this.#ids.find(piece, 0, piece.length);
    return id < 0 ? undefined : id;
  }

  /** The token whose piece is `text[start, end)`, or -1. @param hash of that range, if known */
  find(text: string, start: number, end: number, hash?: number): number {
    return this.#ids.find(text, start, end, hash);
  }

  /** The token that stands for a single byte: `<0x0A>`, or the character itself below 128. */
  idOfByte(byte: number): number | undefined {
    this.#idsOfBytes ??= Array.from({ length: 256 }, (_, byte) => {
      const hexadecimal = byte.toString(16).toUpperCase().padStart(2, "0");
      const id = this.idOf(`<0x${hexadecimal}>`);
      return id ?? (byte < 128 ? this.idOf(String.fromCharCode(byte)) : undefined);
    });
    return this.#idsOfBytes[byte];
  }

  /** Log probability of a piece; 0 if the vocabulary has none. */
  scoreOf(id: number): number {
    return this.#scores?.[id] ?? 0;
  }

  /** The kind of a piece, one of `PieceKind`. */
  kindOf(id: number): number {
    return this.#kinds[id]!;
  }

  /**
   * Whether only templates and models may write a piece: control and unknown pieces, even if they
   * are shown as text because the reader of an answer needs them.
   */
  isReserved(id: number): boolean {
    return this.#reserved[id] === 1;
  }

  /** Corrects the kind of a piece that is wrong in the file. */
  setKind(id: number, kind: number): void {
    this.#kinds[id] = kind;
    if (kind === PieceKind.control || kind === PieceKind.unknown) this.#reserved[id] = 1;
    // A piece that turns out to be ordinary text, such as </s> in HTML, may be written by
    // everybody.
    if (kind === PieceKind.normal) this.#reserved[id] = 0;
  }

  /**
   * The token id under a key of the metadata; undefined if it is missing or not the id of a token.
   */
  specialId(metadata: Metadata, key: string, fallback?: number): number | undefined {
    const named = readInteger(metadata, key);
    // Converters write 4294967295 or -1 for "none".
    const id = named !== undefined && this.has(named) ? named : fallback;
    return id !== undefined && this.has(id) ? id : undefined;
  }

  /** Whether `id` is a token. */
  has(id: number): boolean {
    return Number.isInteger(id) && id >= 0 && id < this.pieces.length;
  }
}

function readPerPiece(
  metadata: Metadata,
  key: string,
  size: number,
): ArrayLike<number> | undefined {
  const values = readNumbers(metadata, key);
  if (values !== undefined && values.length < size) {
    throw new TokenizerError(
      `Cannot read the vocabulary: "${key}" has ${values.length} values for ${size} tokens`,
    );
  }
  return values;
}
