// How many tokens a model knows, and how many rows its tables have for them. Training likes round
// numbers, so tables may have a few rows without a token: those are not loaded, and cannot be chosen.

import { GgufError } from "../errors.ts";
import type { LayerWeights } from "./layer_weights.ts";

/** Tokens and rows of a model. */
export interface Vocabulary {
  /** That can be read and chosen. */
  readonly tokens: number;
  /** Of the tensors that have one for each token. */
  readonly rows: number;
}

/** Of the tokens, what rows without one may come to: 1.8 % in Phi-2, 0.5 % in gpt-oss. */
const MOST_PADDING = 1 / 16;

/** Rows of a further table of tokens, which some converters pad otherwise than the embeddings. */
export function rowsOfTable(top: LayerWeights, table: string, { rows }: Vocabulary): number {
  const seen = top.size(0, [[table, 1]]);
  return Math.abs(seen - rows) <= rows * MOST_PADDING ? seen : rows;
}

/**
 * The vocabulary by the header. Errors: GgufError where tokens and rows do not go together.
 *
 * @param top the weights that belong to no layer
 */
export function readVocabulary(top: LayerWeights): Vocabulary {
  const { config, weights } = top;
  const { metadata } = config;
  const listed = metadata.optionalStrings<readonly string[]>("tokenizer.ggml.tokens", []).length;
  const said = listed || config.countOr("vocab_size", 0);
  const fits = (rows: number) => rows >= said && rows <= said * (1 + MOST_PADDING);
  const tables = ["token_embd.weight", "output.weight"].filter((table) => top.hasAny([table]));
  const seen = tables.map((table) => weights.inventory.find(table).shape[1] ?? 1);
  const rows = said === 0 ? top.size(0, [["token_embd.weight", 1]]) : seen.find(fits);
  if (rows !== undefined) return { tokens: listed || rows, rows };
  if (seen.length === 0) throw weights.inventory.missing("token_embd.weight");
  const state =
    `it has ${seen[0]} rows, but the vocabulary has ${said} tokens; the file is damaged ` +
    `or its tokenizer is that of another model: download or convert it again`;
  throw new GgufError(weights.path, `tensor "${tables[0]}"`, state);
}
