// The causal convolution in front of a recurrence, or in place of one (LFM2), and its plain reference.

import type { Buffer } from "../../operation.ts";
import { sigmoid } from "./segments.ts";

/** A convolution as a model has it. */
export interface ConvolutionOptions {
  /** Rows that an output is made of, its own included. */
  width: number;
  /** [channels, width], the oldest row first. */
  weight: Buffer;
  /** [channels]. */
  bias?: Buffer;
  /** Whether silu is applied to the result. */
  silu?: boolean;
  /** First columns, in x's rows, of what multiplies x, and of what multiplies the result. */
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
