// The selective scan of Mamba and Mamba 2: the binding of scan.wgsl.

import scalarsSource from "./scalars.wgsl" with { type: "text" };
import scanSource from "./scan.wgsl" with { type: "text" };
import segmentSource from "./segment.wgsl" with { type: "text" };
import type { FloatRows } from "../activation.ts";
import type { Device } from "../device.ts";
import { type Dispatch, encodeDispatch } from "../kernel.ts";
import {
  bindSegments,
  carryState,
  type ColumnRange,
  sigmoid,
  softplus,
  type StepSegments,
} from "./segments.ts";

/** Sizes of a scan. */
export interface ScanShape {
  /** Channels of x; the inner size. */
  channels: number;
  /** Heads, each with a time step of its own: as many as channels in Mamba 1. */
  heads: number;
  /** Groups of heads that share B and C: one in Mamba 1. */
  groups: number;
  /** States of a channel, a multiple of four. */
  states: number;
}

/** What a scan reads in each row. */
export interface ScanInputs {
  /** [channels], after the convolution. */
  x: ColumnRange;
  /** [heads], before bias and softplus. */
  dt: ColumnRange;
  /** [groups, states]. */
  b: ColumnRange;
  /** [groups, states], in the same rows as `b`. */
  c: ColumnRange;
  /** [channels]; if given, y is multiplied by its silu. */
  z?: ColumnRange;
}

/** A scan's parameters, as GGUF files have them. */
export interface ScanWeights {
  /** Minus the rates of decay: [channels, states], or one per head if `scalarDecay`. */
  a: GPUBuffer;
  /** [heads]: what goes from x to y directly. At most 16,384 heads: a uniform buffer, as bias. */
  d: GPUBuffer;
  /** [heads]: the time steps' bias. */
  bias: GPUBuffer;
  /** Whether a head decays as a whole: Mamba 2. */
  scalarDecay: boolean;
}

/** Bytes of the state: [slots, states / 4, channels, 4]. */
export function scanStateBytes({ channels, states }: ScanShape, slots: number): number {
  return slots * channels * states * 4;
}

/** h = exp(dt a) h + dt b x; y = c . h + d x, channel by channel. */
export class SelectiveScan {
  readonly #dispatch: Dispatch;
  readonly #workgroups: number;

  /** @param y [rows, channels] @param state of {@linkcode scanStateBytes} */
  constructor(
    device: Device,
    inputs: ScanInputs,
    y: FloatRows,
    step: StepSegments,
    state: GPUBuffer,
    weights: ScanWeights,
    shape: ScanShape,
  ) {
    const { x, dt, b, c, z } = inputs;
    const { channels, heads, groups, states } = shape;
    const constants = carryState(states, groups === 1 ? undefined : channels / groups);
    const { SEGMENTS, bindings } = bindSegments(step);
    this.#workgroups = Math.ceil(y.stride * constants.TEAM / constants.WORKGROUP);
    this.#dispatch = device.kernel({
      name: "selective scan",
      source: scanSource,
      constants: {
        ...constants,
        SEGMENTS,
        HEAD_QUADS: Math.ceil(heads / 4),
        SCALAR_DECAY: weights.scalarDecay,
        GATED: z !== undefined,
      },
      snippets: [segmentSource, scalarsSource],
    }).bind({
      ...bindings,
      x: x.rows.floats,
      dt: dt.rows.floats,
      bc: b.rows.floats,
      ...(z ? { z: z.rows.floats } : {}),
      a: weights.a,
      d: weights.d,
      bias: weights.bias,
      state,
      y: y.floats,
    }, {
      channels,
      head_channels: channels / heads,
      group_channels: channels / groups,
      x_stride: x.rows.stride,
      x_first: x.first,
      dt_stride: dt.rows.stride,
      dt_first: dt.first,
      bc_stride: b.rows.stride,
      b_first: b.first,
      c_first: c.first,
      z_stride: z?.rows.stride ?? 0,
      z_first: z?.first ?? 0,
      y_stride: y.stride,
    });
  }

  /** Records `segments` segments. */
  encode(pass: GPUComputePassEncoder, segments: number): void {
    encodeDispatch(pass, this.#dispatch, [this.#workgroups, segments]);
  }
}

/** The rows of one sequence, without padding: see {@linkcode ScanInputs}. */
export interface ScanSequence {
  x: Float32Array;
  dt: Float32Array;
  b: Float32Array;
  c: Float32Array;
  z?: Float32Array;
}

/** The scan of one sequence in plain loops, in f64: y [rows, channels]. */
export function selectiveScanReference(
  { x, dt, b, c, z }: ScanSequence,
  { a, d, bias }: { a: Float32Array; d: Float32Array; bias: Float32Array },
  { channels, heads, groups, states }: ScanShape,
): Float32Array {
  const scalarDecay = a.length === heads && states > 1;
  const state = new Float64Array(channels * states);
  const y = new Float32Array(x.length);
  for (let row = 0; row < x.length / channels; row++) {
    for (let channel = 0; channel < channels; channel++) {
      const head = Math.floor(channel * heads / channels);
      const group = Math.floor(channel * groups / channels);
      const input = x[row * channels + channel];
      const step = softplus(dt[row * heads + head] + bias[head]);
      let sum = d[head] * input;
      for (let n = 0; n < states; n++) {
        const at = channel * states + n;
        const shared = (row * groups + group) * states + n;
        const decay = Math.exp(step * a[scalarDecay ? head : at]);
        state[at] = decay * state[at] + step * b[shared] * input;
        sum += c[shared] * state[at];
      }
      const gate = z?.[row * channels + channel];
      y[row * channels + channel] = gate === undefined ? sum : sum * gate * sigmoid(gate);
    }
  }
  return y;
}
