// The sampling options of a slot, their packed layout, and the options of a sampler. Callers have
// to resolve defaults and check ranges.

import type { Buffer } from "../../operation.ts";
import { SAMPLING } from "../step_records.ts";
import { type FilterOptionInfos, FILTERS_OFF } from "../filters/list.ts";

/** The options of filters (filters/list.ts); those that are missing are off. */
export type FilterOptions = { readonly [Name in keyof FilterOptionInfos]?: number };

/** The options of one sequence. Every filter has a value that turns it off. */
export interface SamplingOptions extends FilterOptions {
  /** Divides the logits before the draw. 0 always chooses the most likely token. */
  readonly temperature: number;
  /** Keeps this many of the most likely tokens; 0 keeps all. */
  readonly topK: number;
  /** Keeps the fewest most likely tokens whose probabilities sum to at least this; 1 keeps all. */
  readonly topP: number;
  /** Divides a positive and multiplies a negative logit of a repeated token; 1 changes nothing. */
  readonly repeatPenalty: number;
  /** Subtracted from the logit of a repeated token; 0 changes nothing. */
  readonly presencePenalty: number;
  /** Subtracted from the logit of a repeated token for each time it occurs; 0 changes nothing. */
  readonly frequencyPenalty: number;
  /**
   * Number of last tokens of the sequence that count as repeated, at most the context; 0 for none.
   */
  readonly repeatLastN: number;
  /** Seed of the draw, 64 bits unsigned. */
  readonly seed: bigint;
  /** Whether each of the slot's outputs has a mask of allowed tokens. */
  readonly masked: boolean;
}

/**
 * Below this, dividing by the temperature could overflow. The draw is the best token in any case.
 */
export const LEAST_TEMPERATURE = 1e-6;

/** The options of one slot, packed. */
export function packSampling(options: SamplingOptions): Uint32Array<ArrayBuffer> {
  const { temperature, masked } = options;
  return SAMPLING.pack([{
    ...FILTERS_OFF,
    ...options,
    temperature: temperature < LEAST_TEMPERATURE ? 0 : temperature,
    masked: Number(masked),
  }]);
}

/** A token, and what is added to its logit after the penalties: finite. */
export type TokenBias = readonly [token: number, bias: number];

/** Most tokens of a slot that have a bias. */
export const MOST_BIASES = 4096;
/** Words of a slot's biases: their number, nothing, and a token and its bias as a float of each. */
export const BIAS_WORDS = 2 + 2 * MOST_BIASES;

/** The biases of one slot, packed: as many words as it takes. @param biases each token once */
export function packBiases(biases: readonly TokenBias[]): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(2 + 2 * biases.length);
  const floats = new Float32Array(words.buffer);
  words[0] = biases.length;
  for (const [index, [token, bias]] of biases.entries()) {
    words[2 + 2 * index] = token;
    floats[3 + 2 * index] = bias;
  }
  return words;
}

/** Whether `options` contain penalties, which change logits before the choice. */
export function hasPenalties(options: SamplingOptions): boolean {
  return options.repeatLastN > 0 &&
    (options.repeatPenalty !== 1 || options.presencePenalty !== 0 ||
      options.frequencyPenalty !== 0);
}

/** The caller's buffers, of words of 32 bits. */
export interface SamplerBuffers {
  /** Logits, f32 [outputs, vocabulary]. Penalties and masks are written into them. */
  readonly logits: Buffer;
  /** Row of each output: [outputs]. */
  readonly outputs: Buffer;
  /** The rows of the step: [rows] of {@linkcode STEP_ROW}. */
  readonly rows: Buffer;
  /** The options of each slot: [slots] of {@linkcode SAMPLING}. */
  readonly sampling: Buffer;
  /** The tokens of each slot's sequence up to the row's position: [slots, context]. */
  readonly history: Buffer;
  /** What is added to the logits of some tokens of each slot, {@linkcode packBiases}: [slots, BIAS_WORDS]. */
  readonly biases: Buffer;
  /**
   * The allowed tokens of each output, a bit per token, lowest first: [outputs, ceil(vocabulary /
   * 32)].
   */
  readonly mask: Buffer;
  /** Result: the chosen token or {@linkcode NO_TOKEN}, [outputs]. */
  readonly sampled: Buffer;
  /**
   * Result: [slots] of {@linkcode SLOT_TOKEN}, the chosen token and its position, which is the
   * row's plus one.
   */
  readonly slots: Buffer;
}

export interface SamplerOptions {
  readonly buffers: SamplerBuffers;
  /** Tokens in the vocabulary. */
  readonly vocabulary: number;
  /** Positions in a slot's history. */
  readonly context: number;
  /** Most outputs in one step. */
  readonly outputs: number;
}

/** The options that at least one output of a step needs. What no output needs is not run. */
export interface SamplingNeeds {
  readonly penalties: boolean;
  /** Whether a slot's list of biases is not empty. */
  readonly biases: boolean;
  readonly masks: boolean;
  /** Whether a temperature is above 0. */
  readonly stochastic: boolean;
}

/** The sampled "token" if there is no choice: a logit is NaN or +inf, or no token is allowed. */
export const NO_TOKEN = 0xffffffff;
