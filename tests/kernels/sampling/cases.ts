// Inputs for the sampler's tests: options, masks and logits, the same in every run.

import type {
  SamplingInput,
  SamplingOptions,
  TokenBias,
} from "../../../kernels/ops/sampling/mod.ts";

/** One output: its logits, how to choose from them, and the sequence so far. */
export interface Case extends SamplingInput {
  readonly logits: Float32Array;
  readonly options: SamplingOptions;
}

/** Options that change nothing: a plain draw from the softmax at temperature 1. */
export const PLAIN: SamplingOptions = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  repeatPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repeatLastN: 0,
  seed: 0n,
  masked: false,
};

/** Options that take the best token. */
export const GREEDY: SamplingOptions = { ...PLAIN, temperature: 0 };

/** Whole numbers from `from` up to, not including, `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** A mask of `vocabulary` bits that allows `ids`. */
export function maskOf(vocabulary: number, ids: Iterable<number>): Uint32Array {
  const mask = new Uint32Array(Math.ceil(vocabulary / 32));
  for (const id of ids) mask[id >>> 5] |= 1 << (id & 31);
  return mask;
}

/** Random numbers in [0, 1) that repeat: mulberry32. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Logits shaped like a model's: a bulk with normal spread and a tail of a few likely tokens. */
export function modelLogits(vocabulary: number, seed: number): Float32Array {
  const next = random(seed);
  return Float32Array.from({ length: vocabulary }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    return 2.5 * normal + (next() < 0.002 ? 8 * next() : 0);
  });
}

/** Options of filters, alone and together. */
const FILTERS: readonly Partial<SamplingOptions>[] = [
  { topNSigma: 1.5 },
  { typicalP: 0.6 },
  { topNSigma: 1.9, typicalP: 0.9, minP: 0.02 },
  { xtcProbability: 0.7, xtcThreshold: 0.1 },
  { xtcProbability: 1, xtcThreshold: 0.02, minP: 0.01, dynatempRange: 0.5 },
  { dynatempRange: 1, dynatempExponent: 2 },
];

/** All combinations of the options that choose a path through the kernels. */
function optionsGrid(): SamplingOptions[] {
  const grid: SamplingOptions[] = [];
  for (const temperature of [0, 0.6, 1.7]) {
    for (const topK of [0, 1, 40, 300, 2500]) {
      for (const topP of [1, 0.9, 0.2]) {
        for (const filters of [{}, { minP: 0.1 }, ...FILTERS]) {
          for (const repeatLastN of [0, 50]) {
            for (const masked of [false, true]) {
              grid.push({ ...PLAIN, temperature, topK, topP, repeatLastN, masked, ...filters });
            }
          }
        }
      }
    }
  }
  return grid;
}

/** Biases of some tokens, of which some are banned. */
function biasesOf(vocabulary: number, next: () => number): TokenBias[] {
  const tokens = new Set(Array.from({ length: 300 }, () => Math.floor(next() ** 2 * vocabulary)));
  return [...tokens].map((token) => [token, next() < 0.3 ? -1e9 : Math.fround(10 * next() - 5)]);
}

/** `count` cases of the grid, spread over it, with random logits, sequences, masks and seeds. */
export function randomCases(vocabulary: number, count: number): Case[] {
  const grid = optionsGrid();
  const next = random(vocabulary);
  const pool = [1, 2, 3].map((seed) => modelLogits(vocabulary, seed));
  const masks = [0.02, 0.5].map((share) => {
    const ids = Array.from({ length: vocabulary }, (_, id) => id).filter(() => next() < share);
    return maskOf(vocabulary, [vocabulary - 1, ...ids]);
  });
  return Array.from({ length: count }, (_, index) => {
    const position = Math.floor(next() * 100);
    return {
      logits: pool[index % pool.length],
      options: {
        ...grid[Math.floor((index + next()) * grid.length / count)],
        repeatPenalty: 1.3,
        presencePenalty: 0.5,
        frequencyPenalty: 0.25,
        seed: BigInt(Math.floor(next() * 2 ** 52)) << 12n,
      },
      position,
      history: Array.from({ length: position + 1 }, () => Math.floor(next() ** 3 * vocabulary)),
      mask: masks[index % masks.length],
      ...(index % 3 === 0 && { biases: biasesOf(vocabulary, next) }),
    };
  });
}
