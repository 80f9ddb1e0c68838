// Mirostat 1 and 2 of Basu et al., "Mirostat: a neural text decoding algorithm that directly controls
// perplexity" (ICLR 2021): tokens are dropped so that the surprise of those that come, in bits, stays
// near a target. What is dropped follows from the tokens before, so the host chooses, in doubles. The draw
// is the other samplers': the seed gives each token its random number.

import type { SamplingOptions } from "./options.ts";
import { gumbel, penalized, type SamplingInput } from "./reference.ts";

export interface MirostatOptions {
  /** 1: keeps a number of tokens, by Zipf's law. 2: keeps those that surprise little enough. */
  readonly version: 1 | 2;
  /** The surprise to come near to, in bits. */
  readonly tau: number;
  /** How much of a token's difference from it changes the bound. */
  readonly eta: number;
}

/** How many of the likeliest tokens show the exponent of Zipf's law. */
const ZIPF_TOKENS = 100;

/** The choice of tokens of one sequence. */
export class Mirostat {
  readonly #options: MirostatOptions;
  #bound: number;
  #surprise = 0;

  constructor(options: MirostatOptions) {
    this.#options = options;
    this.#bound = 2 * options.tau;
  }

  /** The most surprise of the next token in bits, mu in the paper. */
  get bound(): number {
    return this.#bound;
  }

  /** The surprise of the token that was chosen last, among those that were kept, in bits. */
  get surprise(): number {
    return this.#surprise;
  }

  /**
   * Chooses a token, after penalties, biases and mask; the filters do not choose.
   *
   * @param logits [vocabulary], finite where a token may come; at least one may
   * @param options with a temperature above 0
   */
  choose(logits: Float32Array, options: SamplingOptions, input: SamplingInput): number {
    const scores = penalized(logits, options, input);
    const { mask, position } = input;
    let greatest = -Infinity;
    for (let id = 0; id < scores.length; id++) {
      const isAllowed = !options.masked || !mask || (mask[id >>> 5] >>> (id & 31)) & 1;
      if (!isAllowed) scores[id] = -Infinity;
      else if (scores[id] > greatest) greatest = scores[id];
    }
    for (let id = 0; id < scores.length; id++) {
      scores[id] = (scores[id] - greatest) / options.temperature;
    }
    const weights = scores.map(Math.exp);
    const kept = this.#options.version === 1
      ? likeliest(weights, zipfCount(weights, this.#bound))
      : unsurprising(weights, this.#bound);
    const noisy = kept.map((id) => scores[id] + gumbel(options.seed, position, id));
    const best = kept[noisy.reduce((best, score, at) => score > noisy[best] ? at : best, 0)];
    const total = kept.reduce((sum, id) => sum + weights[id], 0);
    this.#surprise = Math.log2(total / weights[best]);
    return best;
  }

  /** Moves the bound by the surprise of the token that was chosen last, once it has come. */
  take(): void {
    const { tau, eta } = this.#options;
    this.#bound -= eta * (this.#surprise - tau);
  }
}

/** The tokens with a surprise within the bound, in order of ids; the likeliest, where there are none. */
function unsurprising(weights: Float64Array, bound: number): number[] {
  const least = weights.reduce((sum, weight) => sum + weight, 0) * 2 ** -bound;
  const kept: number[] = [];
  weights.forEach((weight, id) => weight > 0 && weight >= least && kept.push(id));
  return kept.length > 0 ? kept : [weights.indexOf(1)];
}

/** How many tokens have a cross-entropy of about the bound, if probabilities follow Zipf's law. */
function zipfCount(weights: Float64Array, bound: number): number {
  const first = weights.filter((weight) => weight > 0).sort().reverse().subarray(0, ZIPF_TOKENS);
  let products = 0;
  let squares = 0;
  for (let i = 0; i + 1 < first.length; i++) {
    const distance = Math.log((i + 2) / (i + 1));
    products += distance * Math.log(first[i] / first[i + 1]);
    squares += distance * distance;
  }
  const exponent = products / squares;
  const epsilon = exponent - 1;
  const count = (epsilon * 2 ** bound / (1 - weights.length ** -epsilon)) ** (1 / exponent);
  return Math.max(1, Math.trunc(count) || 1);
}

/** This many of the likeliest tokens, in order of ids; of equal ones those with the lowest. */
function likeliest(weights: Float64Array, count: number): number[] {
  const order = weights.filter((weight) => weight > 0).sort().reverse();
  const least = order[Math.min(count, order.length) - 1];
  let equals = Math.min(count, order.length) - order.filter((weight) => weight > least).length;
  const kept: number[] = [];
  weights.forEach((weight, id) => {
    if (weight > least || weight === least && equals-- > 0) kept.push(id);
  });
  return kept;
}
