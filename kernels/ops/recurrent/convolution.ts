// The causal convolution before a recurrence, or instead of one (LFM2), and its plain reference.

import type { Buffer } from "../../operation.ts";
import { sigmoid } from "./segments.ts";

/** The options of a convolution. */
export interface ConvolutionOptions {
  /** Number of rows that an output depends on, including its own. */
  width: number;
  /** Weights, the oldest row first: [channels, width]. */
  weight: Buffer;
  /** Biases: [channels]. */
  bias?: Buffer;
  /** Whether silu is applied to the result. */
  silu?: boolean;
  /** First columns of the gates in x's rows: one multiplies x, the other multiplies the result. */
  gates?: { input: number; output: number };
}

/** Bytes of the state: the last `width - 1` inputs of each slot. */
export function convolutionStateBytes(channels: number, width: number, slots: number): number {
  return slots * (width - 1) * channels * 4;
}

/** The convolution of one sequence in plain loops: x [rows, channels], weight [channels, width]. */
export function causalConvolutionReference(
  x: Float32Array,
  weight: Float32Array,
  { width, bias, silu }: { width: number; bias?: Float32Array; silu?: boolean },
): Float32Array {
  const channels = weight.length / width;
  return x.map((_, i) => {
    const channel = i % channels;
    let sum = bias?.[channel] ?? 0;
    for (let j = 0; j < width; j++) {
      const from = i - (width - 1 - j) * channels;
      if (from >= 0) sum += weight[channel * width + j] * x[from];
    }
    return silu ? sum * sigmoid(sum) : sum;
  });
}
