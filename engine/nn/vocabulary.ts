// The number of tokens of a model, and of rows in its tables of tokens. Tables may be padded to a
// round number of rows. The rows without a token are not loaded, so they can never be sampled.

import { GgufError } from "../errors.ts";
import type { Rows } from "../weights/mod.ts";
import type { LayerWeights } from "./layer_weights.ts";

/** Ranges of tokens, in order. */
export type TokenRanges = readonly (readonly [first: number, count: number])[];

/** Chooses tokens, by the number of all. */
export type ChooseTokens = (tokens: number) => TokenRanges;

/** The tokens and rows of a model. */
export interface Vocabulary {
  /** Tokens that can be read and sampled, by their rows in tables. */
  readonly ranges: TokenRanges;
  /** Rows of the tensors that have one for each token. */
  readonly rows: number;
}

/** Most rows without a token, as a fraction of the tokens. Phi-2 has 1.8 %, gpt-oss 0.5 %. */
const MOST_PADDING = 1 / 16;

/** The rows of the tokens in a table, by its full name. @param rows of the table, see `rowsOfTable` */
export function tokenRows(name: string, { ranges, rows: own }: Vocabulary, rows = own): Rows {
  const there = ranges.map(([first, count]) => [first, Math.min(count, rows - first)] as const);
  return { name, rows, ranges: there.filter(([, count]) => count > 0) };
}

/** Rows of another table of tokens, which some converters pad differently from the embeddings. */
export function rowsOfTable(top: LayerWeights, table: string, { rows }: Vocabulary): number {
  const seen = top.size(0, [[table, 1]]);
  return Math.abs(seen - rows) <= rows * MOST_PADDING ? seen : rows;
}

/**
 * The vocabulary according to the header. Errors: GgufError if the numbers of tokens and rows
 * contradict each other.
 *
 * @param top the weights that belong to no layer
 * @param choose the tokens whose rows are loaded, by the number of all
 */
export function readVocabulary(
  top: LayerWeights,
  choose: ChooseTokens = (tokens) => [[0, tokens]],
): Vocabulary {
  const { config, weights } = top;
  const { metadata } = config;
  const listed = metadata.optionalStrings<readonly string[]>("tokenizer.ggml.tokens", []).length;
  const said = listed || config.countOr("vocab_size", 0);
  const fits = (rows: number) => rows >= said && rows <= said * (1 + MOST_PADDING);
  const tables = ["token_embd.weight", "output.weight"].filter((table) => top.hasAny([table]));
  const seen = tables.map((table) => weights.inventory.find(table).shape[1] ?? 1);
  const rows = said === 0 ? top.size(0, [["token_embd.weight", 1]]) : seen.find(fits);
  if (rows !== undefined) return { ranges: choose(listed || rows), rows };
  if (seen.length === 0) throw weights.inventory.missing("token_embd.weight");
  const state =
    `it has ${seen[0]} rows, but the vocabulary has ${said} tokens; the file is damaged ` +
    `or its tokenizer is that of another model: download or convert it again`;
  throw new GgufError(weights.path, `tensor "${tables[0]}"`, state);
}
