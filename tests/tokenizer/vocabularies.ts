// Small hand-made vocabularies for the unit tests, and the way to the conformance data.

import type { Metadata } from "../../tokenizer/mod.ts";

/** Where the optional conformance data lies, next to the project. */
export const dataRoot = new URL("../../../shared/data/", import.meta.url);

/** Whether the conformance data is there. */
export const hasData = await Deno.stat(dataRoot).then((stat) => stat.isDirectory, () => false);

/** For the name of a test that needs the data. */
export const dataNote = hasData ? "" : " (skipped: no conformance data beside the project)";

/** Kinds of pieces as GGUF numbers them. */
export const kind = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 };

/** A piece: text, kind, score. */
export type Piece = readonly [text: string, kind?: number, score?: number];

/** The metadata of a vocabulary with these pieces. */
export function vocabulary(model: string, pieces: readonly Piece[], more: Metadata = {}): Metadata {
  return {
    "tokenizer.ggml.model": model,
    "tokenizer.ggml.tokens": pieces.map(([text]) => text),
    "tokenizer.ggml.token_type": Int32Array.from(pieces, ([, type]) => type ?? kind.normal),
    "tokenizer.ggml.scores": Float32Array.from(pieces, ([, , score]) => score ?? 0),
    ...more,
  };
}

/** The 256 pieces `<0x00>` to `<0xFF>`. */
export const bytePieces: readonly Piece[] = Array.from(
  { length: 256 },
  (_, byte) => [`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`, kind.byte],
);

/** A SentencePiece vocabulary with all bytes; byte b is token 3 + b, further pieces follow at 259. */
export function sentencePiece(pieces: readonly Piece[], more: Metadata = {}): Metadata {
  const special: Piece[] = [["<unk>", kind.unknown], ["<s>", kind.control], ["</s>", kind.control]];
  return vocabulary("llama", [...special, ...bytePieces, ...pieces], more);
}

/** The characters of byte-level BPE for the bytes 0 to 255, in order. */
export const byteCharacters: readonly string[] = (() => {
  let shifted = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const prints = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCharCode(prints ? byte : shifted++);
  });
})();

/** A byte-level BPE vocabulary; byte b is token b, then the results of merges, then `pieces`. */
export function bytePairs(
  merges: readonly string[],
  pieces: readonly Piece[] = [],
  more: Metadata = {},
): Metadata {
  const merged = merges.map((merge): Piece => [merge.replace(" ", "")]);
  const characters = byteCharacters.map((character): Piece => [character]);
  return vocabulary("gpt2", [...characters, ...merged, ...pieces], {
    "tokenizer.ggml.merges": [...merges],
    "tokenizer.ggml.pre": "gpt-2",
    ...more,
  });
}
