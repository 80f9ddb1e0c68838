// The pieces of a vocabulary with their scores and kinds, and the ids that have a meaning of their
// own. It neither splits nor joins text: that is the business of the algorithms.
// Format: ggml's GGUF specification, section "Tokenizer".

import { TokenizerError } from "../errors.ts";
import { type Metadata, readInteger, readNumbers, readStrings } from "./metadata.ts";
import { TextTable } from "../tables/text_table.ts";

/** What a piece is, as `tokenizer.ggml.token_type` numbers it. */
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
  /** 1 for what the file, or what is known of its family, calls a control or unknown piece. */
  readonly #reserved: Uint8Array;
  readonly #ids: TextTable;
  readonly #maximumPieceLength: number;
  #idsOfBytes: readonly (number | undefined)[] | undefined;

  /** Throws TokenizerError where a list is of the wrong type or shorter than the pieces. */
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
      // Of several equal pieces the first is the one that text is encoded to.
      if (this.pieces[id] !== "") this.#ids.add(this.pieces[id]!, id);
    }
  }

  /** Number of tokens. */
  get size(): number {
    return this.pieces.length;
  }

  /** Length of the longest piece in UTF-16 units: no longer string can be one. */
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

  /** Log probability of a piece; 0 where the vocabulary has none. */
  scoreOf(id: number): number {
    return this.#scores?.[id] ?? 0;
  }

  /** One of `PieceKind`. */
  kindOf(id: number): number {
    return this.#kinds[id]!;
  }

  /**
   * Whether a piece is one that only templates and models write: control and unknown pieces, also
   * those that are shown as text because the reader of an answer has to see them.
   */
  isReserved(id: number): boolean {
    return this.#reserved[id] === 1;
  }

  /** Corrects the kind of a piece that its file has wrong. */
  setKind(id: number, kind: number): void {
    this.#kinds[id] = kind;
    if (kind === PieceKind.control || kind === PieceKind.unknown) this.#reserved[id] = 1;
    // A piece that is ordinary text after all, such as </s> in HTML, is free for everybody.
    if (kind === PieceKind.normal) this.#reserved[id] = 0;
  }

  /** The id at a key of the metadata; undefined where it is missing or names no token. */
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
