// SentencePiece's BPE, from tokenizer.model or, if a folder has none, from a tokenizer.json that
// was made of one. Pieces are joined in the order of their scores; for tokenizer.json, scores
// follow from the order of the merges.

import { UnsupportedModelError } from "../../errors.ts";
import type { WritableMetadata } from "../../gguf/mod.ts";
import { readMerges } from "./byte_level.ts";
import { parseSentencePieceModel } from "./sentencepiece_model.ts";
import type { Settings } from "./settings.ts";
import { PieceKind, type Vocabulary } from "./vocabulary.ts";

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
