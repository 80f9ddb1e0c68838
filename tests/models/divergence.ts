// How far the arithmetic that answers are computed with is from exact arithmetic on a trained model: the
// Kullback-Leibler divergence of the distributions of the next token, and the perplexity, over a text in
// windows, of which the second halves count, where there is context.

import { loadModel } from "../../engine/mod.ts";

/** Tokens of a window. */
const WINDOW = 512;

/** What came of a text. */
export interface Divergence {
  /** Mean divergence of the usual arithmetic from exact arithmetic, in nats. */
  readonly divergence: number;
  /** Share of positions at which both have the same most probable token. */
  readonly sameTop: number;
  /** Perplexity of the text in exact arithmetic. */
  readonly perplexity: number;
  /** Positions that count. */
  readonly positions: number;
}

/** Measures a model over the windows of a text, or the first of them. @param path of the GGUF file */
export async function measureDivergence(
  path: string,
  text: string,
  windows = Infinity,
): Promise<Divergence> {
  const options = { contextLength: 2 * WINDOW, maxSequences: 1, cacheWindows: 1 };
  await using exact = await loadModel(path, { ...options, exact: true });
  await using usual = await loadModel(path, options);
  const tokens = exact.tokenizer.encode(text);
  const begin = exact.tokenizer.encode("", { bos: true });
  const sums = { divergence: 0, sameTop: 0, loss: 0, positions: 0 };
  const length = WINDOW - begin.length;
  const end = Math.min(tokens.length, windows * length);
  for (let at = 0; at + length <= end; at += length) {
    const window = [...begin, ...tokens.slice(at, at + length)];
    const [expected, actual] = [await exact.logits(window), await usual.logits(window)];
    const size = expected.length / window.length;
    for (let row = WINDOW / 2; row + 1 < window.length; row++) {
      const [p, q] = [expected, actual].map((all) => all.subarray(row * size, (row + 1) * size));
      const [ofP, ofQ] = [logSumExp(p!), logSumExp(q!)];
      for (let i = 0; i < size; i++) {
        const log = p![i]! - ofP;
        sums.divergence += Math.exp(log) * (log - (q![i]! - ofQ));
      }
      if (greatest(p!) === greatest(q!)) sums.sameTop++;
      sums.loss += ofP - p![window[row + 1]!]!;
      sums.positions++;
    }
  }
  const { positions } = sums;
  return {
    divergence: sums.divergence / positions,
    sameTop: sums.sameTop / positions,
    perplexity: Math.exp(sums.loss / positions),
    positions,
  };
}

/** Index of the greatest logit. */
export function greatest(logits: Float32Array): number {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i]! > logits[best]!) best = i;
  return best;
}

function logSumExp(logits: Float32Array): number {
  const peak = logits[greatest(logits)]!;
  let sum = 0;
  for (const value of logits) sum += Math.exp(value - peak);
  return peak + Math.log(sum);
}
