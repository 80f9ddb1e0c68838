// The tokens that end an answer. Files name one EOS, but chat models also stop at other tokens,
// which are recognized by their text. The list follows llama.cpp, which also treats them as control
// pieces whatever the file says.

import type { Metadata } from "./metadata.ts";
import { PieceKind, type Vocabulary } from "./vocabulary.ts";

const endPieces = [
  "<|eot_id|>",
  "<|eom_id|>",
  "<|im_end|>",
  "<|end|>",
  "<|return|>",
  "<|call|>",
  "<|calls|>",
  "<|flush|>",
  "<|endoftext|>",
  "<|end_of_text|>",
  "<end_of_turn>",
  "<end_of_utterance>",
  "<turn|>",
  "<|tool_response>",
  "<eos>",
  "</s>",
  "<EOT>",
  "_<EOT>",
  "[EOT]",
  "[EOS]",
  "[e~[",
  "<｜end▁of▁sentence｜>",
];

/** Fill-in-the-middle pieces that a model writes only after the end of the requested text. */
const fillEndPieces: Readonly<Record<string, readonly string[]>> = {
  fim_pad: ["<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"],
  fim_rep: ["<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"],
  fim_sep: ["<|file_sep|>"],
};

/** Fill-in-the-middle pieces of the prompt: control pieces that do not end an answer. */
const fillPieces = [
  "<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|> <|prefix|>",
  "<|fim_suffix|> <fim-suffix> <fim_suffix> <｜fim▁hole｜> <SUF> ▁<SUF> <|code_suffix|> <|suffix|>",
  "<|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> <|code_middle|> <|middle|>",
].flatMap((line) => line.split(" "));

/** Pieces that structure an answer of gpt-oss. The parser of the answer needs them as text. */
const harmonyPieces = ["<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"];

/**
 * The tokens that end an answer of this vocabulary. Corrects their kinds in `vocabulary`, and those
 * of other known control pieces.
 */
export function findEndOfGeneration(
  vocabulary: Vocabulary,
  metadata: Metadata,
  eosToken: number | undefined,
): Set<number> {
  const ends = new Set<number>();
  const mark = (piece: string): number | undefined => {
    const id = vocabulary.idOf(piece);
    if (id !== undefined) vocabulary.setKind(id, PieceKind.control);
    return id;
  };
  const addEnd = (id: number | undefined) => id !== undefined && ends.add(id);

  for (const piece of fillPieces) mark(piece);
  for (const [role, pieces] of Object.entries(fillEndPieces)) {
    const marked = pieces.map(mark).find((id) => id !== undefined);
    addEnd(vocabulary.specialId(metadata, `tokenizer.ggml.${role}_token_id`, marked));
  }
  for (const piece of endPieces) addEnd(mark(piece));
  for (const role of ["eot", "eom"]) {
    addEnd(vocabulary.specialId(metadata, `tokenizer.ggml.${role}_token_id`));
  }
  addEnd(eosToken);
  reclaim(vocabulary, ends);
  return ends;
}

/** Corrects the result for families in which a piece of the list means something else. */
function reclaim(vocabulary: Vocabulary, ends: Set<number>): void {
  const show = (piece: string, kind: number): number | undefined => {
    const id = vocabulary.idOf(piece);
    if (id !== undefined) vocabulary.setKind(id, kind);
    return id;
  };
  const has = (piece: string) => vocabulary.idOf(piece) !== undefined;

  for (const piece of harmonyPieces) {
    // Marked as control pieces first, so that they stay reserved for templates, then as pieces with
    // text.
    show(piece, PieceKind.control);
    show(piece, PieceKind.userDefined);
  }
  const isHarmony = has("<|return|>") && has("<|call|>");
  const isSolar = has("<|calls|>") && has("<|flush|>");
  // In these families <|end|> ends one message of an answer, not the answer.
  if (isHarmony || isSolar) ends.delete(show("<|end|>", PieceKind.userDefined) ?? -1);
  // Gemma 4 and PaddleOCR: </s> is ordinary HTML.
  if (has("<|tool_response>")) ends.delete(show("</s>", PieceKind.normal) ?? -1);
}
