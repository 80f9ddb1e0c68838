// Mirostat 1 and 2 of Basu et al., "Mirostat: a neural text decoding algorithm that directly controls
// perplexity" (ICLR 2021): tokens are dropped so that the surprise of those that come, in bits, stays
// near a target. What is dropped follows from the tokens before, so the host chooses, in doubles. The draw
// is the other samplers': the seed gives each token its random number.

import { exponential } from "../exponential.ts";
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
   * Chooses a token, after penalties, biases and mask; the filters do not choose. What was drawn of all
   * tokens is also the draw of those that are kept, if it is one of them.
   *
   * @param drawn the choice of the sampler by the same options without filters; NO_TOKEN: there is none
   * @param logits [vocabulary], finite where a token may come; at least one may
   * @param options with a temperature above 0
   */
  choose(
    drawn: number,
    logits: Float32Array,
    options: SamplingOptions,
    input: SamplingInput,
  ): number {
    const scores = penalized(logits, options, input);
    const { mask, position } = input;
    let greatest = -Infinity;
    for (let id = 0; id < scores.length; id++) {
      const isAllowed = !options.masked || !mask || (mask[id >>> 5] >>> (id & 31)) & 1;
      if (!isAllowed) scores[id] = -Infinity;
      else if (scores[id] > greatest) greatest = scores[id];
    }
    const weights = new Float64Array(scores.length);
    for (let id = 0; id < scores.length; id++) {
      scores[id] = (scores[id] - greatest) / options.temperature;
      weights[id] = exponential(scores[id]);
    }
    const cutOf = this.#options.version === 1 ? zipfCut : surpriseCut;
    const { least, last } = cutOf(weights, this.#bound);
    const isKept = (id: number) =>
      weights[id] > least || weights[id] > 0 && weights[id] === least && id <= last;
    let total = 0;
    for (let id = 0; id < weights.length; id++) if (isKept(id)) total += weights[id];
    let best = drawn;
    if (!isKept(drawn)) {
      let most = -Infinity;
      for (let id = 0; id < weights.length; id++) {
        const score = isKept(id) ? scores[id] + gumbel(options.seed, position, id) : -Infinity;
        if (score > most) [most, best] = [score, id];
      }
    }
    this.#surprise = Math.log2(total / weights[best]);
    return best;
  }

  /** Moves the bound by the surprise of the token that was chosen last, once it has come. */
  take(): void {
    const { tau, eta } = this.#options;
    this.#bound -= eta * (this.#surprise - tau);
  }
}

/** Where tokens are cut: those that weigh more are kept, and of those that weigh as much the first ones. */
interface Cut {
  readonly least: number;
  /** The last token of the least weight that is kept. */
  readonly last: number;
}

/** Keeps the tokens with a surprise within the bound; the likeliest, where there are none. */
function surpriseCut(weights: Float64Array, bound: number): Cut {
  let total = 0;
  for (const weight of weights) total += weight;
  const least = total * 2 ** -bound;
  return least > 1 ? { least: 1, last: weights.indexOf(1) } : { least, last: Infinity };
}

/** Keeps the likeliest tokens: as many as have about the bound as cross-entropy, if Zipf's law holds. */
function zipfCut(weights: Float64Array, bound: number): Cut {
  const order = weights.filter((weight) => weight > 0).sort().reverse();
  let products = 0;
  let squares = 0;
  for (let i = 0; i + 1 < Math.min(ZIPF_TOKENS, order.length); i++) {
    const distance = Math.log((i + 2) / (i + 1));
    products += distance * Math.log(order[i] / order[i + 1]);
    squares += distance * distance;
  }
  const exponent = products / squares;
  const epsilon = exponent - 1;
  const wanted = (epsilon * 2 ** bound / (1 - weights.length ** -epsilon)) ** (1 / exponent);
  const count = Math.min(order.length, Math.max(1, Math.trunc(wanted) || 1));
  const least = order[count - 1];
  let last = -1;
  for (let equals = count - order.indexOf(least); equals > 0; equals--) {
    last = weights.indexOf(least, last + 1);
  }
  return { least, last };
}
