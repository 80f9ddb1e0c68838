// The pieces of a vocabulary by token id, from any kind of file, and GGUF's keys for them.
// byte_level.ts and sentencepiece.ts read the files.

import type { WritableMetadata } from "../../gguf/mod.ts";
import { ConversionError } from "../../errors.ts";
import type { Settings } from "./settings.ts";

/** The kinds of pieces, as `tokenizer.ggml.token_type` and SentencePiece number them. */
export const PieceKind = {
  normal: 1,
  unknown: 2,
  control: 3,
  userDefined: 4,
  unused: 5,
  byte: 6,
} as const;

/** A token. */
export interface Piece {
  readonly text: string;
  /** The kind, one of {@linkcode PieceKind}. */
  readonly kind: number;
  /** The score. Pieces with greater scores are joined first. */
  readonly score: number;
}

/** Score of pieces into which no text is joined. */
const NO_SCORE = -1000;
const SPACE_MARK = "\u2581";

/** Pieces that are control tokens, although files do not mark them as special. */
const CONTROL = /^(<\|.*\|>|<｜.*｜>|<unused.*>|<pad>|<mask>|<2mass>|\[@BOS@\])$/;

/** The tokens of a model, as many as its embeddings have rows. */
export class Vocabulary {
  readonly #file: string;
  readonly #pieces: (Piece | undefined)[];
  #ids: Map<string, number> | undefined;

  /** @param file path of the file, for errors @param size number of tokens */
  constructor(file: string, size: number) {
    this.#file = file;
    this.#pieces = new Array(size).fill(undefined);
  }

  /** Sets a token. Errors: ConversionError if the model has no such id. */
  set(id: unknown, piece: Piece): void {
    if (!Number.isInteger(id) || (id as number) < 0 || (id as number) >= this.#pieces.length) {
      const state = `its id ${id} is not below the ${this.#pieces.length} rows of the embedding`;
      throw new ConversionError(this.#file, `token ${JSON.stringify(piece.text)}`, state);
    }
    this.#pieces[id as number] = piece;
    this.#ids = undefined;
  }

  /** Sets a token that is searched for as a whole in texts. The unknown token keeps its kind. */
  add(id: number, text: string, isSpecial: boolean): void {
    if (this.#pieces[id]?.kind === PieceKind.unknown) return;
    const isControl = isSpecial || CONTROL.test(text);
    this.set(id, {
      text: isControl ? text : text.replaceAll(SPACE_MARK, " "),
      kind: isControl ? PieceKind.control : PieceKind.userDefined,
      score: NO_SCORE,
    });
  }

  /** The token of a piece. */
  idOf(text: string): number | undefined {
    this.#ids ??= new Map(this.#pieces.map((piece, id) => [piece?.text ?? "", id]));
    return this.#ids.get(text);
  }

  /** Whether there is a token of that id. */
  has(id: number): boolean {
    return this.#pieces[id] !== undefined;
  }

  /** The lists of GGUF. Rows of the embeddings without a token get a name that no text contains. */
  metadata({ scores }: { scores: boolean }): WritableMetadata {
    const pieces = this.#pieces.map((piece, id) =>
      piece ?? { text: `[PAD${id}]`, kind: PieceKind.unused, score: NO_SCORE }
    );
    return {
      "tokenizer.ggml.tokens": pieces.map(({ text }) => text),
      ...(scores && { "tokenizer.ggml.scores": Float32Array.from(pieces, ({ score }) => score) }),
      "tokenizer.ggml.token_type": Int32Array.from(pieces, ({ kind }) => kind),
    };
  }
}

/** Adds the tokens that tokenizer.json and tokenizer_config.json list besides the trained ones. */
export function addListedTokens(
  vocabulary: Vocabulary,
  tokenizer: Settings | undefined,
  config: Settings | undefined,
): void {
  for (const token of tokenizer?.objects("added_tokens") ?? []) {
    vocabulary.add(token.count("id"), token.string("content"), token.boolean("special", false));
  }
  const decoder = config?.object("added_tokens_decoder");
  for (const id of Object.keys(decoder?.members ?? {})) {
    const token = decoder!.object(id)!;
    vocabulary.add(Number(id), token.string("content"), token.boolean("special", false));
  }
}
