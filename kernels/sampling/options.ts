// The sampling options of a slot and their layout on the GPU: `struct Sampling` in sampling.wgsl.
// Resolves no defaults and checks no ranges; both are for the caller, who knows the request.

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
  /** Whether the slot's mask says which tokens are allowed. */
  readonly masked: boolean;
}

/** Bytes of one slot in the `sampling` buffer. */
export const SAMPLING_BYTES = 64;

/** Below this, dividing by the temperature could overflow; the draw is the best token anyway. */
export const LEAST_TEMPERATURE = 1e-6;

/** The options of one slot as the GPU reads them: SAMPLING_BYTES bytes. */
export function packSampling(options: SamplingOptions): ArrayBuffer {
  const buffer = new ArrayBuffer(SAMPLING_BYTES);
  const floats = new Float32Array(buffer);
  const words = new Uint32Array(buffer);
  floats[0] = options.temperature < LEAST_TEMPERATURE ? 0 : options.temperature;
  words[1] = options.topK;
  floats[2] = options.topP;
  floats[3] = options.minP;
  floats[4] = options.repeatPenalty;
  floats[5] = options.presencePenalty;
  floats[6] = options.frequencyPenalty;
  words[7] = options.repeatLastN;
  new BigUint64Array(buffer)[4] = options.seed;
  words[10] = Number(options.masked);
  return buffer;
}

/** Whether `options` need the logits to be penalized before a choice. */
export function hasPenalties(options: SamplingOptions): boolean {
  return options.repeatLastN > 0 &&
    (options.repeatPenalty !== 1 || options.presencePenalty !== 0 ||
      options.frequencyPenalty !== 0);
}
