// How the file of a model that ranks wants query and document put together: a prompt, or special tokens
// around both. model/rank.ts does it.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import type { GgufFile } from "../gguf/mod.ts";

type Metadata = GgufFile["metadata"];

/** How a file ranks, as far as its header tells. */
export interface RankFormat {
  /** The prompt with `{query}` and `{document}`, and perhaps `{instruction}`, if there is one. */
  readonly prompt: string | undefined;
  /** Tokens before, between and after query and document, where there is no prompt. */
  readonly before: readonly number[];
  readonly between: readonly number[];
  readonly after: readonly number[];
}

/** The prompt of the card of Qwen3's rerankers, for files that were converted without it. */
const QWEN3_PROMPT =
  "<|im_start|>system\nJudge whether the Document meets the requirements based on " +
  'the Query and the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n' +
  "<|im_start|>user\n<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {document}<|im_end|>\n" +
  "<|im_start|>assistant\n<think>\n\n</think>\n\n";

/** Whether a decoder's name says that it is a reranker. */
export function isReranker(metadata: Metadata): boolean {
  if ("tokenizer.chat_template.rerank" in metadata) return true;
  const names = ["general.name", "general.basename", "general.finetune"];
  return /^qwen3/.test(String(metadata["general.architecture"])) &&
    names.some((name) => /rerank/i.test(String(metadata[name] ?? "")));
}

/** How a file ranks. */
export function readRankFormat(metadata: Metadata, tokenizer: Tokenizer): RankFormat {
  const own = metadata["tokenizer.chat_template.rerank"];
  const isTrue = (key: string, fallback: boolean) => Boolean(metadata[key] ?? fallback);
  const tokenOf = (key: string) => {
    const token = metadata[key];
    return token === undefined ? undefined : Number(token);
  };
  const isWordPiece = metadata["tokenizer.ggml.model"] === "bert";
  const separator = tokenOf("tokenizer.ggml.seperator_token_id") ??
    tokenOf("tokenizer.ggml.separator_token_id");
  const end = tokenOf("tokenizer.ggml.eos_token_id") ?? separator;
  const listed = (isThere: boolean, token: number | undefined) =>
    isThere && token !== undefined ? [token] : [];
  const after = listed(isTrue("tokenizer.ggml.add_eos_token", false), end);
  const between = listed(isTrue("tokenizer.ggml.add_sep_token", isWordPiece), separator);
  return {
    prompt: typeof own === "string" && own !== ""
      ? own
      : isReranker(metadata)
      ? QWEN3_PROMPT
      : undefined,
    before: listed(tokenizer.addBos, tokenizer.bosToken),
    between: [...after, ...between],
    after,
  };
}
