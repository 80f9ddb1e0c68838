// The plain reference of sampling, in double precision. It also tells how close the choice was,
// since single precision may differ if the margin is thin. Its random numbers are Philox4x32-10's,
// the counter-based generator of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"
// (SC11).

import type { Arithmetic, Total } from "../filters/filter.ts";
import { EARLY_FILTERS, FILTERS, FILTERS_OFF } from "../filters/list.ts";
import { LEAST_TEMPERATURE, NO_TOKEN, type SamplingOptions, type TokenBias } from "./options.ts";

/** The inputs besides the logits and the options. */
export interface SamplingInput {
  /** Position of the row with these logits: the sequence's last. */
  readonly position: number;
  /** Tokens of the sequence at positions 0 to `position`. */
  readonly history?: ArrayLike<number>;
  /** What is added to the logits of some tokens, each once. */
  readonly biases?: readonly TokenBias[];
  /** A bit per token, 32 per word, lowest first: whether the token is allowed. */
  readonly mask?: Uint32Array;
}

/** A chosen token, and the least difference that would have changed the choice. */
export interface Choice {
  readonly token: number;
  /** In logits for cuts and scores, in probability for top_p. Equal logits count as no margin. */
  readonly margin: number;
}

/** Logits beyond this magnitude count as infinite; see sampling.wgsl. */
const GREATEST_LOGIT = 1e30;

interface Candidate {
  readonly id: number;
  readonly logit: number;
}

/**
 * Chooses a token as the kernels do: penalties and mask, then the best token at temperature 0, or
 * else top_k, the early filters, top_p, the others and a draw at the temperature. NO_TOKEN if a logit is NaN or +inf, or if
 * no token is allowed.
 */
export function sampleReference(
  logits: Float32Array,
  options: SamplingOptions,
  input: SamplingInput,
): Choice {
  const isNumber = logits.every((logit) => logit < Infinity);
  const all = allowedCandidates(penalized(logits, options, input), options, input);
  let candidates = all;
  if (candidates.length === 0 || !isNumber) return { token: NO_TOKEN, margin: Infinity };
  let margin = Infinity;
  const keepFirst = (count: number) => {
    if (count >= candidates.length) return;
    // Equal logits are ordered by id, in any precision.
    margin = Math.min(margin, candidates[count - 1].logit - candidates[count].logit || Infinity);
    candidates = candidates.slice(0, count);
  };

  const greedy = options.temperature < LEAST_TEMPERATURE;
  if (greedy) keepFirst(1);
  if (options.topK > 0) keepFirst(options.topK);
  if (greedy) return { token: candidates[0].id, margin };
  const greatest = all[0].logit;
  let temperature = options.temperature;
  const run = (first: number, end?: number) => {
    for (const [at, filter] of FILTERS.slice(first, end).entries()) {
      const m = new Numbers({ ...FILTERS_OFF, ...options }, input.position, first + at);
      if (filter.isOn(m)) {
        const totals: number[] = [];
        for (const total of filter.totals) {
          const of = total.kind === "sum" && total.ofAll ? all : candidates;
          totals.push(totalOf(total, m, of.map(({ logit }) => logit - greatest), totals));
        }
        const kept = candidates.filter(({ logit }) =>
          filter.keeps?.(m, logit - greatest, totals) ?? true
        );
        candidates = kept.length > 0 ? kept : candidates.slice(0, 1);
        temperature = filter.temperature?.(m, totals) ?? temperature;
      }
      margin = Math.min(margin, m.margin);
    }
  };
  run(0, EARLY_FILTERS);
  if (options.topP < 1) {
    const shares = cumulativeShares(candidates);
    for (const share of shares.slice(0, -1)) {
      margin = Math.min(margin, Math.abs(share - options.topP));
    }
    const reached = shares.findIndex((share) => share >= options.topP);
    if (reached >= 0) candidates = candidates.slice(0, reached + 1);
  }
  run(EARLY_FILTERS);
  if (candidates.length === 1) return { token: candidates[0].id, margin };
  return draw(candidates, { ...options, temperature }, input.position, margin);
}

/** Logits with the penalties for the last tokens of the sequence, once per distinct token, and the biases. */
export function penalized(
  logits: Float32Array,
  { repeatLastN, repeatPenalty, frequencyPenalty, presencePenalty }: SamplingOptions,
  { history = [], position, biases = [] }: SamplingInput,
): Float64Array {
  const result = new Float64Array(logits);
  const recent = Array.from(history)
    .slice(0, position + 1)
    .slice(Math.max(0, position + 1 - repeatLastN))
    .filter((token) => token < logits.length);
  const counts = new Map<number, number>();
  for (const token of recent) counts.set(token, (counts.get(token) ?? 0) + 1);
  for (const [token, count] of counts) {
    if (result[token] > 0) result[token] /= repeatPenalty;
    else result[token] *= repeatPenalty;
    result[token] -= frequencyPenalty * count + presencePenalty;
  }
  // A ban is so large that nothing of the logit is left in single precision, in which tokens that are
  // banned are alike.
  for (const [token, bias] of biases) result[token] = Math.fround(result[token] + bias);
  return result;
}

/** The allowed tokens in descending order of logits, and of equal logits the lowest id first. */
function allowedCandidates(
  logits: Float64Array,
  options: SamplingOptions,
  { mask }: SamplingInput,
): Candidate[] {
  const candidates: Candidate[] = [];
  logits.forEach((logit, id) => {
    const allowed = !options.masked || !mask || (mask[id >>> 5] >>> (id & 31)) & 1;
    if (allowed && logit > -GREATEST_LOGIT) {
      candidates.push({ id, logit: Math.min(logit, GREATEST_LOGIT) });
    }
  });
  return candidates.sort((a, b) => b.logit - a.logit || a.id - b.id);
}

/** Arithmetic of doubles, which notes how close its comparisons were. */
class Numbers implements Arithmetic<number, boolean> {
  /** The least difference of two numbers that were compared and differ. */
  margin = Infinity;

  constructor(
    private readonly options: SamplingOptions & typeof FILTERS_OFF,
    private readonly position: number,
    private readonly filter: number,
  ) {}

  constant = (value: number) => value;
  option = (name: string) => Math.fround(this.options[name as keyof typeof FILTERS_OFF]);
  random = () => philox([this.position, 0, 1, this.filter], this.options.seed)[0] / 2 ** 32;
  add = (a: number, b: number) => a + b;
  subtract = (a: number, b: number) => a - b;
  multiply = (a: number, b: number) => a * b;
  divide = (a: number, b: number) => a / b;
  greatest = (a: number, b: number) => Math.max(a, b);
  choose = (condition: boolean, yes: number, no: number) => condition ? yes : no;
  exp = (value: number) => Math.exp(value);
  ln = (value: number) => Math.log(value);
  not = (condition: boolean) => !condition;
  atLeast(a: number, b: number): boolean {
    if (a !== b) this.margin = Math.min(this.margin, Math.abs(a - b));
    return a >= b;
  }
}

/** A number that a filter needs, of tokens with these relative logits. */
function totalOf(
  total: Total,
  m: Numbers,
  relatives: readonly number[],
  before: readonly number[],
): number {
  switch (total.kind) {
    case "value":
      return total.of(m, before);
    case "sum":
      return relatives.reduce((sum, relative) => sum + total.of(m, relative, before), 0);
    case "least":
      return relatives.filter((relative) => total.of(m, relative, before))
        .reduce((least, relative) => Math.min(least, relative), 0);
    case "reach": {
      const goal = total.goal(m, before);
      const items = relatives.map((relative) => ({
        own: total.of(m, relative, before),
        weight: Math.exp(relative),
      })).sort((a, b) => a.own - b.own);
      const all = items.reduce((sum, { weight }) => sum + weight, 0);
      let sum = 0;
      let reached: number | undefined;
      for (const [index, { own, weight }] of items.entries()) {
        sum += weight;
        if (reached !== undefined) continue;
        m.margin = Math.min(m.margin, Math.abs(sum - goal) / all);
        const next = items[index + 1]?.own;
        if (sum >= goal && next !== own) {
          reached = own;
          if (next !== undefined) m.margin = Math.min(m.margin, next - own);
        }
      }
      return reached ?? items.at(-1)!.own;
    }
  }
}

/** For each candidate, the probability of it and all before it. */
function cumulativeShares(candidates: readonly Candidate[]): number[] {
  const weights = candidates.map(({ logit }) => Math.exp(logit - candidates[0].logit));
  const total = weights.reduce((sum, weight) => sum + weight);
  let sum = 0;
  return weights.map((weight) => (sum += weight) / total);
}

/**
 * The candidate with the greatest logit / temperature + Gumbel variate, which is a draw from their
 * softmax.
 */
function draw(
  candidates: readonly Candidate[],
  { temperature, seed }: SamplingOptions,
  position: number,
  margin: number,
): Choice {
  const greatest = candidates[0].logit;
  const scores = candidates.map(({ id, logit }) => ({
    id,
    score: (logit - greatest) / temperature + gumbel(seed, position, id),
  }));
  scores.sort((a, b) => b.score - a.score || a.id - b.id);
  return { token: scores[0].id, margin: Math.min(margin, scores[0].score - scores[1].score) };
}

/** The four random words of a counter of four words under a key of 64 bits. */
export function philox(counter: readonly number[], key: bigint): Uint32Array {
  const state = Uint32Array.from(counter);
  const keys = Uint32Array.of(Number(key & 0xffffffffn), Number(key >> 32n));
  for (let round = 0; round < 10; round++) {
    const [x, y, z, w] = state;
    state[0] = multiplyHigh(0xcd9e8d57, z) ^ y ^ keys[0];
    state[1] = Math.imul(0xcd9e8d57, z);
    state[2] = multiplyHigh(0xd2511f53, x) ^ w ^ keys[1];
    state[3] = Math.imul(0xd2511f53, x);
    keys[0] += 0x9e3779b9;
    keys[1] += 0xbb67ae85;
  }
  return state;
}

/** High word of the product of two words. Both halves of `b` keep the products below 2^53. */
function multiplyHigh(a: number, b: number): number {
  const low = Math.floor(a * (b & 0xffff) / 2 ** 16);
  return Math.floor((a * (b >>> 16) + low) / 2 ** 16);
}

/**
 * A standard Gumbel variate for a token, which depends on the seed, the position and the id alone.
 */
export function gumbel(seed: bigint, position: number, id: number): number {
  const word = philox([position, Math.floor(id / 4), 0, 0], seed)[id % 4];
  return -Math.log(-Math.log((word + 0.5) / 2 ** 32));
}
