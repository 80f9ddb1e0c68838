// Byte-level BPE from tokenizer.json, as Hugging Face's Tokenizers writes it: pieces in GPT-2's
// alphabet of bytes, and merges in the order in which they are applied.

import type { WritableMetadata } from "../../gguf/mod.ts";
import { pretokenizerName } from "./pretokenizer_name.ts";
import type { Settings } from "./settings.ts";
import { PieceKind, type Vocabulary } from "./vocabulary.ts";

/**
 * Reads the trained pieces into a vocabulary.
 * @returns the keys for encoding text
 * @throws ConversionError, UnsupportedModelError
 */
export function readByteLevel(tokenizer: Settings, vocabulary: Vocabulary): WritableMetadata {
  const model = tokenizer.object("model")!;
  for (const [text, id] of Object.entries(model.object("vocab")?.members ?? {})) {
    vocabulary.set(id, { text, kind: PieceKind.normal, score: 0 });
  }
  return {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": pretokenizerName(tokenizer),
    "tokenizer.ggml.merges": readMerges(model).map((pair) => pair.join(" ")),
  };
}

/** The merges, in order. In files they are one string or two. */
export function readMerges(model: Settings): [left: string, right: string][] {
  return model.list("merges").map((merge, index) => {
    const pair = typeof merge === "string" ? merge.split(" ") : merge;
    if (
      Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string")
    ) {
      return pair as [string, string];
    }
    throw model.error(`merges[${index}]`, "it is not a pair of pieces");
  });
}
