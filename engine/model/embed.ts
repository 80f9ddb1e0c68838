// From texts to vectors: the hidden states of a text's tokens are pooled as the file says (mean,
// first token or last token) and normalized to length one, as in sentence encoders (Reimers and
// Gurevych 2019). A model without pooling gives the state of the last token.

import { taint, type Tokenizer } from "../../tokenizer/mod.ts";
import { cancellable, flagsOf, pollCancellation } from "../cancellation.ts";
import { ContextLengthError, NotFiniteError, RequestError } from "../errors.ts";
import type { GenerateContext } from "../generate/mod.ts";
import type { Assembly } from "../load/mod.ts";
import { poolingOf } from "../nn/mod.ts";
import { checkTokens } from "../prompt/mod.ts";
import type { EmbedInput, EmbedRequest, EmbedResult } from "../types/mod.ts";

/**
 * Characters of a long text that are encoded first. The part that is cut off need not be encoded.
 */
const FIRST_CHARACTERS = 1 << 16;

/**
 * Embeds texts or token ids. Each step takes as many as fit, so that other requests run in between.
 * Errors: RequestError, ContextLengthError, NotFiniteError; the signal's reason.
 */
export async function embed(
  context: GenerateContext & Assembly,
  { inputs, truncate = true, dimensions, signal }: EmbedRequest,
): Promise<EmbedResult> {
  const { scheduler, config, encoder } = context;
  const pooling = poolingOf(config);
  const embeddings: Float32Array[] = [];
  let promptTokens = 0;
  while (embeddings.length < inputs.length) {
    const first = embeddings.length;
    const sequences = cancellable(
      flagsOf(signal),
      () => encodeSome(context, inputs, first, truncate),
    );
    const states = await scheduler.evaluate({
      branches: sequences.map((tokens) => ({
        tokens,
        wanted: pooling === "mean" ? "all" : pooling,
      })),
      output: "hidden",
      whole: encoder,
      signal,
      adapters: context.adapterScales,
    });
    for (const [i, rows] of states.entries()) {
      const mean = pooling === "mean" ? meanOf(rows, sequences[i].length) : rows;
      if (!mean.every(Number.isFinite)) {
        throw new NotFiniteError(`hidden states of text ${first + i}`);
      }
      embeddings.push(normalized(mean.subarray(0, dimensions)));
      promptTokens += sequences[i].length;
    }
  }
  return { embeddings, promptTokens };
}

/**
 * The tokens of the inputs from `first` on that fit into one step together, but at least one input.
 */
function encodeSome(
  context: GenerateContext & Assembly,
  inputs: readonly EmbedInput[],
  first: number,
  truncate: boolean,
): number[][] {
  const limits = context.scheduler.evaluationLimits;
  const sequences: number[][] = [];
  let rows = 0;
  while (sequences.length < limits.sequences && first + sequences.length < inputs.length) {
    const index = first + sequences.length;
    const tokens = tokensOf(context, inputs[index], index, truncate);
    rows += tokens.length;
    if (rows > limits.rows && sequences.length > 0) break;
    sequences.push(tokens);
  }
  return sequences;
}

/** Tokens of a text, with the special tokens that its model was trained on. */
function tokensOf(
  { tokenizer, contextLength }: GenerateContext,
  input: EmbedInput,
  index: number,
  truncate: boolean,
): number[] {
  const tokens = typeof input === "string" ? encode(tokenizer, input, contextLength) : [...input];
  if (tokens.length === 0) {
    throw new RequestError(`Cannot embed text ${index}: it has no tokens`);
  }
  checkTokens(tokens, tokenizer, `Cannot embed text ${index}`);
  if (tokens.length <= contextLength) return tokens;
  if (!truncate) throw new ContextLengthError(tokens.length, contextLength);
  // A text that is cut off keeps its closing token.
  const end = typeof input === "string" ? tokenizer.encode("", { eos: true }) : [];
  return [...tokens.slice(0, contextLength - end.length), ...end];
}

/**
 * Tokens of a text. Texts to embed are data, so nothing in them is a control token. If the text is
 * longer than the window, only its beginning is encoded.
 */
function encode(tokenizer: Tokenizer, text: string, contextLength: number): number[] {
  for (let length = FIRST_CHARACTERS;; length *= 2) {
    pollCancellation();
    const tokens = tokenizer.encode(taint(text.slice(0, length)), { bos: true, eos: true });
    // Twice the window, because the last tokens of the cut beginning may differ from those of the
    // whole text.
    if (length >= text.length || tokens.length > 2 * contextLength) return tokens;
  }
}

/** The mean of rows, [count, columns]. */
function meanOf(rows: Float32Array, count: number): Float32Array {
  const columns = rows.length / count;
  const sums = new Float64Array(columns);
  for (let first = 0; first < rows.length; first += columns) {
    for (let column = 0; column < columns; column++) sums[column] += rows[first + column];
  }
  return Float32Array.from(sums, (sum) => sum / count);
}

/** The vector scaled to length one. A vector of zeros stays as it is. */
function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 ? vector.map((value) => value / length) : vector.slice();
}
