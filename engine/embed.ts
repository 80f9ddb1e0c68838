// From texts to vectors: the hidden states of a text's tokens, pooled as the file says (mean, the
// first token, the last one) and normalized to length one, as sentence encoders are used (Reimers and
// Gurevych 2019). A model without pooling gives the state of the last token.

import type { Assembly } from "./assemble.ts";
import { ContextLengthError, NotFiniteError, RequestError } from "./errors.ts";
import type { GenerateContext } from "./generate.ts";
import { poolingOf } from "./pooling.ts";
import { checkTokens } from "./prompt.ts";
import type { EmbedRequest, EmbedResult } from "./types.ts";

/** Embeds texts or token ids. Errors: RequestError, ContextLengthError; the signal's reason. */
export async function embed(
  context: GenerateContext & Assembly,
  { inputs, truncate = true, dimensions, signal }: EmbedRequest,
): Promise<EmbedResult> {
  const { scheduler, config, encoder } = context;
  const pooling = poolingOf(config);
  const sequences = inputs.map((input, i) => tokensOf(context, input, i, truncate));
  if (sequences.length === 0) return { embeddings: [], promptTokens: 0 };
  const states = await scheduler.evaluate({
    sequences,
    output: "hidden",
    wanted: pooling === "mean" ? "all" : pooling,
    whole: encoder,
    signal,
  });
  const embeddings = states.map((rows, i) => {
    const mean = pooling === "mean" ? meanOf(rows, sequences[i].length) : rows;
    if (!mean.every(Number.isFinite)) throw new NotFiniteError(`hidden states of text ${i}`);
    return normalized(mean.subarray(0, dimensions));
  });
  return { embeddings, promptTokens: sequences.reduce((sum, { length }) => sum + length, 0) };
}

/** Tokens of a text with the special ones that its model was trained on. */
function tokensOf(
  { tokenizer, contextLength }: GenerateContext,
  input: string | readonly number[],
  index: number,
  truncate: boolean,
): number[] {
  const tokens = typeof input === "string"
    ? tokenizer.encode(input, { bos: true, eos: true })
    : [...input];
  if (tokens.length === 0) {
    throw new RequestError(`Cannot embed text ${index}: it has no tokens`);
  }
  checkTokens(tokens, tokenizer, `Cannot embed text ${index}`);
  if (tokens.length <= contextLength) return tokens;
  if (!truncate) throw new ContextLengthError(tokens.length, contextLength);
  // What ends a text ends a shortened one too.
  const end = typeof input === "string" ? tokenizer.encode("", { eos: true }) : [];
  return [...tokens.slice(0, contextLength - end.length), ...end];
}

function meanOf(rows: Float32Array, count: number): Float32Array {
  const columns = rows.length / count;
  const sums = new Float64Array(columns);
  for (let i = 0; i < rows.length; i++) sums[i % columns] += rows[i];
  return Float32Array.from(sums, (sum) => sum / count);
}

/** The vector at length one; zeros stay zeros. */
function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 ? vector.map((value) => value / length) : vector.slice();
}
