// Fill-in-the-middle: the tokens that tell a model what comes before a gap and what after it
// (Bavarian et al. 2022). The header names them, or the vocabulary has well-known pieces for them.

import type { Metadata } from "../../tokenizer/mod.ts";

/**
 * The tokens around a gap: `prefix` is before the text before it, `suffix` before the text after
 * it, and `middle` where the answer begins.
 */
export interface FillInMiddleTokens {
  readonly prefix: number;
  readonly suffix: number;
  readonly middle: number;
}

/** The keys that name each token, the newer key first, and the pieces of known families. */
const TOKENS: Record<keyof FillInMiddleTokens, { keys: string[]; pieces: string[] }> = {
  prefix: {
    keys: ["fim_pre_token_id", "prefix_token_id"],
    pieces: [
      "<|fim_prefix|>",
      "<fim_prefix>",
      "<fim-prefix>",
      "<｜fim▁begin｜>",
      "<|code_prefix|>",
      "▁<PRE>",
      "<PRE>",
    ],
  },
  suffix: {
    keys: ["fim_suf_token_id", "suffix_token_id"],
    pieces: [
      "<|fim_suffix|>",
      "<fim_suffix>",
      "<fim-suffix>",
      "<｜fim▁hole｜>",
      "<|code_suffix|>",
      "▁<SUF>",
      "<SUF>",
    ],
  },
  middle: {
    keys: ["fim_mid_token_id", "middle_token_id"],
    pieces: [
      "<|fim_middle|>",
      "<fim_middle>",
      "<fim-middle>",
      "<｜fim▁end｜>",
      "<|code_middle|>",
      "▁<MID>",
      "<MID>",
    ],
  },
};

/** The tokens of a vocabulary for fill-in-the-middle; undefined if one of them is missing. */
export function findFillInMiddleTokens(metadata: Metadata): FillInMiddleTokens | undefined {
  const list = metadata["tokenizer.ggml.tokens"];
  const pieces: readonly unknown[] = Array.isArray(list) ? list : [];
  const find = (name: keyof FillInMiddleTokens): number | undefined => {
    const named = TOKENS[name].keys.map((key) => Number(metadata[`tokenizer.ggml.${key}`]));
    const known = TOKENS[name].pieces.map((piece) => pieces.indexOf(piece));
    // Converters write 4294967295 or -1 for "none".
    return [...named, ...known].find((token) => token >= 0 && token < pieces.length);
  };
  const [prefix, suffix, middle] = [find("prefix"), find("suffix"), find("middle")];
  if (prefix === undefined || suffix === undefined || middle === undefined) return undefined;
  return { prefix, suffix, middle };
}
