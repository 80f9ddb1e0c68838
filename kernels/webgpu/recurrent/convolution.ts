// The causal convolution before a recurrence, or instead of one (LFM2): the binding of
// convolution.wgsl.

import convolutionSource from "./convolution.wgsl" with { type: "text" };
import scalarsSource from "../scalars.wgsl" with { type: "text" };
import type { Buffer } from "../../operation.ts";
import type { FloatRows } from "../../ops/activation.ts";
import type { ConvolutionOptions } from "../../ops/recurrent/convolution.ts";
import type { ColumnRange, StepSegments } from "../../ops/recurrent/segments.ts";
import type { Gpu } from "../gpu.ts";
import { type Dispatch, encodeDispatch } from "../kernel.ts";
import { bindSegments, SEGMENT_SNIPPET } from "./segments.ts";

const WORKGROUP = 64;

/** Rows of a segment per invocation. */
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
    device: Gpu,
    x: ColumnRange,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
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
      snippets: [SEGMENT_SNIPPET, scalarsSource],
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
