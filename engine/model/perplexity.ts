// The perplexity of a text (Jelinek et al. 1977) and, beside another model of the same vocabulary, how
// far both are apart: the Kullback-Leibler divergence of the next token's distributions, and how often
// both have the same likeliest token. As llama-perplexity measures it: the text in windows that do not
// overlap and begin with BOS, of which the second halves count, where there is context.

import { exponential, logSumOfExponentials } from "../../kernels/mod.ts";
import { RequestError } from "../errors.ts";
import { likeliest } from "../generate/mod.ts";
import type { Model } from "./model.ts";

/** How a text is measured. */
export interface PerplexityOptions {
  /** Tokens of a window, at least 4. Default 512. */
  readonly window?: number;
  /** Most windows of the text. Default: all. */
  readonly windows?: number;
  /** The model whose distributions are taken for right. Default: none. */
  readonly against?: Model;
  /** Called after each window, with what is known so far and the number of windows. */
  readonly onWindow?: (sofar: Perplexity, windows: number) => void;
  /** Aborting it ends the measurement with its reason. */
  readonly signal?: AbortSignal;
}

/** What came of a text. */
export interface Perplexity {
  /** exp of the mean loss. */
  readonly perplexity: number;
  /** Standard error of it. */
  readonly error: number;
  /** Tokens whose probability counts. */
  readonly tokens: number;
  /** Windows that were measured. */
  readonly windows: number;
  /** Given where there is another model. */
  readonly against?: {
    /** That model's perplexity. */
    readonly perplexity: number;
    /** Mean divergence of the measured model from it, in nats. */
    readonly divergence: number;
    /** Share of positions at which both have the same likeliest token. */
    readonly sameTop: number;
  };
}

/**
 * Measures a text. Errors: RequestError for a text that is shorter than a window, and for models whose
 * vocabularies differ; NotFiniteError; the signal's reason.
 */
export async function measurePerplexity(
  model: Model,
  text: string,
  { window = 512, windows = Infinity, against, onWindow, signal }: PerplexityOptions = {},
): Promise<Perplexity> {
  const { tokenizer } = model;
  const fail = (state: string) => new RequestError(`Cannot measure the text: ${state}`);
  const most = Math.min(model.contextLength, against?.contextLength ?? Infinity) - 1;
  if (window < 4 || window > most) {
    throw fail(
      `a window of ${window} tokens is not between 4 and ${most}, one less than the model's`,
    );
  }
  const tokens = tokenizer.encode(text, { bos: true });
  const [begin] = tokenizer.encode("", { bos: true });
  const count = Math.min(windows, Math.floor(tokens.length / window));
  if (count === 0) throw fail(`it has ${tokens.length} tokens, a window ${window}`);
  if (against && against.tokenizer.encode(text, { bos: true }).join() !== tokens.join()) {
    throw fail("the models split it into other tokens");
  }
  const sums = { loss: 0, squares: 0, other: 0, divergence: 0, sameTop: 0, tokens: 0 };
  for (let done = 0; done < count; done++) {
    signal?.throwIfAborted();
    const own = Array.from(tokens.slice(done * window, (done + 1) * window));
    if (begin !== undefined) own[0] = begin;
    const logits = await model.logits(own);
    const expected = await against?.logits(own);
    const size = logits.length / window;
    const rowOf = (all: Float32Array, row: number) => all.subarray(row * size, (row + 1) * size);
    for (let row = Math.floor(window / 2); row + 1 < window; row++) {
      const q = rowOf(logits, row);
      const ofQ = logSumOfExponentials(q);
      const loss = ofQ - q[own[row + 1]!]!;
      sums.tokens++;
      sums.loss += loss;
      sums.squares += loss * loss;
      if (!expected) continue;
      const p = rowOf(expected, row);
      const ofP = logSumOfExponentials(p);
      sums.other += ofP - p[own[row + 1]!]!;
      p.forEach((logit, i) => {
        sums.divergence += exponential(logit - ofP) * (logit - ofP - (q[i]! - ofQ));
      });
      if (likeliest(p, 1)[0] === likeliest(q, 1)[0]) sums.sameTop++;
    }
    onWindow?.(resultOf(sums, done + 1, against !== undefined), count);
  }
  return resultOf(sums, count, against !== undefined);
}

function resultOf(
  sums: {
    loss: number;
    squares: number;
    other: number;
    divergence: number;
    sameTop: number;
    tokens: number;
  },
  windows: number,
  isCompared: boolean,
): Perplexity {
  const { tokens } = sums;
  const mean = sums.loss / tokens;
  const variance = Math.max(0, sums.squares / tokens - mean * mean);
  const perplexity = Math.exp(mean);
  return {
    perplexity,
    error: perplexity * Math.sqrt(variance / Math.max(1, tokens - 1)),
    tokens,
    windows,
    ...(isCompared && {
      against: {
        perplexity: Math.exp(sums.other / tokens),
        divergence: sums.divergence / tokens,
        sameTop: sums.sameTop / tokens,
      },
    }),
  };
}
