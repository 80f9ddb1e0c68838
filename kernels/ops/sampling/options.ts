// The sampling options of a slot, their packed layout, which devices read, and what a sampler is made
// for. Resolves no defaults and checks no ranges; both are for the caller, who knows the request.

import type { Buffer } from "../../operation.ts";
import { SAMPLING } from "../step_records.ts";

/** How to choose a sequence's next token. Every filter has a value that turns it off. */
export interface SamplingOptions {
  /** Divides the logits before the draw; 0 always takes the most likely token. */
  readonly temperature: number;
  /** Keeps this many of the most likely tokens; 0 keeps all. */
  readonly topK: number;
  /** Keeps the fewest most likely tokens with this share of the probability; 1 keeps all. */
  readonly topP: number;
  /** Keeps tokens with at least this share of the best one's probability; 0 keeps all. */
  readonly minP: number;
  /** Divides a positive and multiplies a negative logit of a repeated token; 1 changes nothing. */
  readonly repeatPenalty: number;
  /** Subtracted from the logit of a repeated token; 0 changes nothing. */
  readonly presencePenalty: number;
  /** Subtracted from the logit of a repeated token for each time it occurs; 0 changes nothing. */
  readonly frequencyPenalty: number;
  /** Tokens at the end of the sequence that count as repeated, at most the context; 0 for none. */
  readonly repeatLastN: number;
  /** Seed of the draw, 64 bits unsigned. */
  readonly seed: bigint;
  /** Whether each of the slot's outputs has a mask that says which tokens are allowed. */
  readonly masked: boolean;
}

/** Below this, dividing by the temperature could overflow; the draw is the best token anyway. */
export const LEAST_TEMPERATURE = 1e-6;

/** The options of one slot, packed. */
export function packSampling(options: SamplingOptions): Uint32Array<ArrayBuffer> {
  const { temperature, masked } = options;
  return SAMPLING.pack([{
    ...options,
    temperature: temperature < LEAST_TEMPERATURE ? 0 : temperature,
    masked: Number(masked),
  }]);
}

/** Whether `options` need the logits to be penalized before a choice. */
export function hasPenalties(options: SamplingOptions): boolean {
  return options.repeatLastN > 0 &&
    (options.repeatPenalty !== 1 || options.presencePenalty !== 0 ||
      options.frequencyPenalty !== 0);
}

/** The caller's buffers, of words of 32 bits. */
export interface SamplerBuffers {
  /** f32 [outputs, vocabulary]; penalties and masks are written into it. */
  readonly logits: Buffer;
  /** [outputs]: the row that each output belongs to. */
  readonly outputs: Buffer;
  /** [rows] of {@linkcode STEP_ROW}. */
  readonly rows: Buffer;
  /** [slots] of {@linkcode SAMPLING}. */
  readonly sampling: Buffer;
  /** [slots, context]: the tokens of each slot's sequence up to the row's position. */
  readonly history: Buffer;
  /** [outputs, ceil(vocabulary / 32)]: a bit per token, lowest first, set where it is allowed. */
  readonly mask: Buffer;
  /** Result, [outputs]: the chosen token, or {@linkcode NO_TOKEN}. */
  readonly sampled: Buffer;
  /** Result, [slots] of {@linkcode SLOT_TOKEN}: the chosen token and its position, the row's plus one. */
  readonly slots: Buffer;
}

/** What a sampler is made for. */
export interface SamplerOptions {
  readonly buffers: SamplerBuffers;
  /** Tokens in the vocabulary. */
  readonly vocabulary: number;
  /** Positions in a slot's history. */
  readonly context: number;
  /** Most outputs in one step. */
  readonly outputs: number;
}

/** What at least one output of a step needs; what none needs is not run. */
export interface SamplingNeeds {
  readonly penalties: boolean;
  readonly masks: boolean;
  /** Whether a temperature is above 0. */
  readonly stochastic: boolean;
}

/** What is sampled where there is no choice: a logit is NaN or +inf, or no token is allowed. */
export const NO_TOKEN = 0xffffffff;
