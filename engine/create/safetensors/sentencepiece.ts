// SentencePiece's BPE, from tokenizer.model or, if a folder has none, from a tokenizer.json that
// was made of one. Pieces are joined in the order of their scores; for tokenizer.json, scores
// follow from the order of the merges.

import { ConversionError, UnsupportedModelError } from "../../errors.ts";
import type { WritableMetadata } from "../../gguf/mod.ts";
import { type Piece, PieceKind, readMerges, type Vocabulary } from "./vocabulary.ts";
import type { Settings } from "./settings.ts";

/**
 * Reads the pieces of a tokenizer.model into a vocabulary.
 * @returns the keys for encoding text
 * @throws ConversionError, UnsupportedModelError
 */
export function readSentencePieceModel(
  file: string,
  bytes: Uint8Array,
  vocabulary: Vocabulary,
): WritableMetadata {
  const model = parseSentencePieceModel(file, bytes);
  if (!model.isBpe) {
    throw new UnsupportedModelError(
      `Cannot convert "${file}": its pieces are not joined by BPE, and nothing else is supported`,
    );
  }
  for (const [id, piece] of model.pieces.entries()) vocabulary.set(id, piece);
  return sentencePieceMetadata(model.addsDummyPrefix, model.unknownId);
}

/**
 * Reads the pieces of a tokenizer.json into a vocabulary.
 * @returns the keys for encoding text
 * @throws ConversionError
 */
export function readMarkedBpe(tokenizer: Settings, vocabulary: Vocabulary): WritableMetadata {
  const model = tokenizer.object("model")!;
  const ranks = new Map<string, number>();
  for (const [index, pair] of readMerges(model).entries()) {
    const joined = pair.join("");
    if (!ranks.has(joined)) ranks.set(joined, index);
  }
  const unknown = model.string("unk_token", null);
  for (const [text, id] of Object.entries(model.object("vocab")?.members ?? {})) {
    const score = -(ranks.get(text) ?? ranks.size);
    vocabulary.set(id, { text, kind: kindOf(text, unknown), score });
  }
  const unknownId = unknown === null ? undefined : vocabulary.idOf(unknown);
  return sentencePieceMetadata(addsPrefix(tokenizer), unknownId);
}

function sentencePieceMetadata(addsPrefix: boolean, unknownId?: number): WritableMetadata {
  return {
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.pre": "default",
    "tokenizer.ggml.add_space_prefix": addsPrefix,
    ...(unknownId !== undefined && {
      "tokenizer.ggml.unknown_token_id": { uint32: unknownId },
    }),
  };
}

function kindOf(text: string, unknown: string | null): number {
  if (text === unknown) return PieceKind.unknown;
  return /^<0x[0-9A-F]{2}>$/i.test(text) ? PieceKind.byte : PieceKind.normal;
}

/** Whether a space mark is added before the text, by a normalizer or a pretokenizer. */
function addsPrefix(tokenizer: Settings): boolean {
  const normalizer = tokenizer.object("normalizer");
  const normalizers = normalizer ? [normalizer, ...normalizer.objects("normalizers")] : [];
  if (normalizers.some((step) => step.string("type") === "Prepend")) return true;
  const cutter = tokenizer.object("pre_tokenizer");
  return cutter?.string("type") === "Metaspace" &&
    cutter.string("prepend_scheme", "always") !== "never" &&
    cutter.boolean("add_prefix_space", true);
}

// Reads the parts of a tokenizer.model for which GGUF has keys: the pieces, the algorithm, and
// whether texts begin with a space. It is a protocol buffer, defined by sentencepiece_model.proto.

/** The contents of a tokenizer.model. */
interface SentencePieceModel {
  readonly pieces: readonly Piece[];
  /** Whether the algorithm is BPE instead of Unigram. */
  readonly isBpe: boolean;
  readonly addsDummyPrefix: boolean;
  readonly unknownId: number;
}

/** Field numbers in their messages. */
const MODEL = { piece: 1, trainer: 2, normalizer: 3 };
const PIECE = { text: 1, score: 2, kind: 3 };
const TRAINER = { type: 3, unknownId: 40 };
const NORMALIZER = { addsDummyPrefix: 3 };
/** Number of the trainer type. */
const BPE = 2;

/** A piece can be the byte order mark, which decoders remove unless told otherwise. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Parses a tokenizer.model. Errors: ConversionError if it is not one. */
function parseSentencePieceModel(file: string, bytes: Uint8Array): SentencePieceModel {
  const pieces: Piece[] = [];
  let [type, unknownId, addsDummyPrefix] = [1, 0, true];
  for (const [field, value] of fieldsOf(file, bytes)) {
    if (!(value instanceof Uint8Array)) continue;
    if (field === MODEL.piece) pieces.push(parsePiece(file, value));
    if (field === MODEL.trainer) {
      const trainer = new Map(fieldsOf(file, value));
      type = Number(trainer.get(TRAINER.type) ?? type);
      unknownId = Number(trainer.get(TRAINER.unknownId) ?? unknownId);
    }
    if (field === MODEL.normalizer) {
      const normalizer = new Map(fieldsOf(file, value));
      addsDummyPrefix = Boolean(normalizer.get(NORMALIZER.addsDummyPrefix) ?? addsDummyPrefix);
    }
  }
  if (pieces.length === 0) throw new ConversionError(file, "pieces", "there are none");
  return { pieces, isBpe: type === BPE, addsDummyPrefix, unknownId };
}

function parsePiece(file: string, bytes: Uint8Array): Piece {
  const fields = new Map(fieldsOf(file, bytes));
  const text = fields.get(PIECE.text);
  const score = fields.get(PIECE.score);
  return {
    text: text instanceof Uint8Array ? decoder.decode(text) : "",
    score: score instanceof Uint8Array ? new DataView(score.slice().buffer).getFloat32(0, true) : 0,
    kind: Number(fields.get(PIECE.kind) ?? PieceKind.normal),
  };
}

/** The fields of a message: each a whole number or bytes. */
function* fieldsOf(
  file: string,
  bytes: Uint8Array,
): Generator<[field: number, value: number | Uint8Array]> {
  let at = 0;
  const fault = () => new ConversionError(file, `byte ${at}`, "it is no SentencePiece model");

  function readNumber(): number {
    let [value, unit] = [0, 1];
    for (let count = 0; count < 10; count++) {
      if (at >= bytes.length) break;
      const byte = bytes[at++];
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 0x80;
    }
    throw fault();
  }
  function readBytes(length: number): Uint8Array {
    if (length > bytes.length - at) throw fault();
    return bytes.subarray(at, at += length);
  }

  while (at < bytes.length) {
    const tag = readNumber();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0:
        yield [field, readNumber()];
        break;
      case 1:
        yield [field, readBytes(8)];
        break;
      case 2:
        yield [field, readBytes(readNumber())];
        break;
      case 5:
        yield [field, readBytes(4)];
        break;
      default:
        throw fault();
    }
  }
}
