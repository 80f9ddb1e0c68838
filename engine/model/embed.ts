// From texts to vectors: the hidden states of a text's tokens are pooled as the file says (mean,
// first token or last token) and normalized to length one, as in sentence encoders (Reimers and
// Gurevych 2019). A model without pooling gives the state of the last token.

import { taint, type Tokenizer } from "../../tokenizer/mod.ts";
import { cancellable, flagsOf, pollCancellation } from "../cancellation.ts";
import { ContextLengthError, NotFiniteError, RequestError } from "../errors.ts";
import type { GenerateContext } from "../generate/mod.ts";
import { type Assembly, ENCODER_STEP } from "../load/mod.ts";
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
    const sums: Float64Array[] = [];
    await scheduler.evaluate({
      branches: sequences.map((tokens) => ({
        tokens,
        wanted: pooling === "mean" ? "all" : pooling,
      })),
      output: "hidden",
      take: (row, text) => add(sums[text] ??= new Float64Array(row.length), row),
      whole: encoder,
      joins: mostRows(context),
      signal,
      adapters: context.adapterScales,
    });
    for (const [i, { length: tokens }] of sequences.entries()) {
      const pooled = quotients(sums[i], pooling === "mean" ? tokens : 1);
      const length = lengthOf(pooled);
      if (!Number.isFinite(length)) throw new NotFiniteError(`hidden states of text ${first + i}`);
      const wanted = pooled.subarray(0, dimensions);
      embeddings.push(quotients(wanted, lengthOf(wanted) || 1));
      promptTokens += tokens;
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
  const most = mostRows(context);
  const sequences: number[][] = [];
  let rows = 0;
  while (sequences.length < limits.sequences && first + sequences.length < inputs.length) {
    const index = first + sequences.length;
    const tokens = tokensOf(context, inputs[index], index, truncate);
    rows += tokens.length;
    if (rows > most && sequences.length > 0) break;
    sequences.push(tokens);
  }
  return sequences;
}

/** Most tokens of texts that run in one step. */
function mostRows({ scheduler, encoder }: GenerateContext & Assembly): number {
  const { rows } = scheduler.evaluationLimits;
  return encoder ? Math.min(ENCODER_STEP.rows, rows) : rows;
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

// Loops in place of map() and reduce(): the arithmetic of many short texts would take a tenth of their time.

/** sums += row. */
function add(sums: Float64Array, row: Float32Array): void {
  for (let i = 0; i < row.length; i++) sums[i] += row[i];
}

/** Each number divided by `divisor`. */
function quotients(numbers: Float64Array | Float32Array, divisor: number): Float32Array {
  const results = new Float32Array(numbers.length);
  for (let i = 0; i < results.length; i++) results[i] = numbers[i] / divisor;
  return results;
}

/** The Euclidean length; of numbers that are not all finite it is not. */
function lengthOf(vector: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += vector[i] * vector[i];
  return Math.sqrt(sum);
}
