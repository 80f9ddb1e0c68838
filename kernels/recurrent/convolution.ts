// The causal convolution in front of a recurrence, or in place of one (LFM2): the binding of
// convolution.wgsl.

import convolutionSource from "./convolution.wgsl" with { type: "text" };
import scalarsSource from "./scalars.wgsl" with { type: "text" };
import segmentSource from "./segment.wgsl" with { type: "text" };
import type { FloatRows } from "../activation.ts";
import type { Device } from "../device.ts";
import { type Dispatch, encodeDispatch } from "../kernel.ts";
import { bindSegments, type ColumnRange, sigmoid, type StepSegments } from "./segments.ts";

/** A convolution as a model has it. */
export interface ConvolutionOptions {
  /** Rows that an output is made of, its own included. */
  width: number;
  /** [channels, width], the oldest row first. */
  weight: GPUBuffer;
  /** [channels]. */
  bias?: GPUBuffer;
  /** Whether silu is applied to the result. */
  silu?: boolean;
  /** First columns, in x's rows, of what multiplies x, and of what multiplies the result. */
  gates?: { input: number; output: number };
}

/** Bytes of the state: the last `width - 1` inputs of each slot. */
export function convolutionStateBytes(channels: number, width: number, slots: number): number {
  return slots * (width - 1) * channels * 4;
}

const WORKGROUP = 64;

/** Rows of a segment that one invocation takes. */
const SHARE = 32;

/** y[t] = bias + sum_j weight[j] * x[t - width + 1 + j], channel by channel. */
export class CausalConvolution {
  readonly #dispatch: Dispatch;
  readonly #workgroups: number;

  /**
   * @param x its channels are as many as y's columns @param y [rows, channels], not x's rows
   * @param state of {@linkcode convolutionStateBytes}
   */
  constructor(
    device: Device,
    x: ColumnRange,
    y: FloatRows,
    step: StepSegments,
    state: GPUBuffer,
    options: ConvolutionOptions,
  ) {
    const { width, weight, bias, silu, gates } = options;
    const { SEGMENTS, bindings } = bindSegments(step);
    this.#workgroups = Math.ceil(y.stride / WORKGROUP);
    this.#dispatch = device.kernel({
      name: "causal convolution",
      source: convolutionSource,
      constants: {
        WORKGROUP,
        SEGMENTS,
        WIDTH: width,
        HISTORY: width - 1,
        BIAS: bias !== undefined,
        SILU: Boolean(silu),
        GATED: gates !== undefined,
      },
      snippets: [segmentSource, scalarsSource],
    }).bind({
      ...bindings,
      x: x.rows.floats,
      weight,
      ...(bias ? { bias } : {}),
      state,
      y: y.floats,
    }, {
      channels: y.columns,
      stride: x.rows.stride,
      first: x.first,
      input_gate: gates?.input ?? 0,
      output_gate: gates?.output ?? 0,
      y_stride: y.stride,
    });
  }

  /** Records `segments` segments, the longest of which has about `longest` rows. */
  encode(pass: GPUComputePassEncoder, segments: number, longest = 1): void {
    const shares = Math.ceil(longest / SHARE);
    encodeDispatch(pass, this.#dispatch, [this.#workgroups, segments, shares]);
  }
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
