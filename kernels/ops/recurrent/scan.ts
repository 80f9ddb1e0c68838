// The selective scan of Mamba and Mamba 2, and its plain reference.

import type { Buffer } from "../../operation.ts";
import { type ColumnRange, sigmoid, softplus } from "./segments.ts";

/** Sizes of a scan. */
export interface ScanShape {
  /** Channels of x; the inner size. */
  channels: number;
  /** Heads, each with a time step of its own. Mamba 1 has as many as channels. */
  heads: number;
  /** Groups of heads that share B and C. Mamba 1 has one. */
  groups: number;
  /** States of a channel, a multiple of four. */
  states: number;
}

/** The inputs of a scan in each row. */
export interface ScanInputs {
  /** x after the convolution: [channels]. */
  x: ColumnRange;
  /** The time steps before bias and softplus: [heads]. */
  dt: ColumnRange;
  /** The paper's B: [groups, states]. */
  b: ColumnRange;
  /** The paper's C, in the same rows as `b`: [groups, states]. */
  c: ColumnRange;
  /** The gate: y is multiplied by its silu. [channels]. */
  z?: ColumnRange;
}

/** The parameters of a scan, as in GGUF files. */
export interface ScanWeights {
  /** The negated rates of decay: [channels, states], or one per head with `scalarDecay`. */
  a: Buffer;
  /**
   * Factor of x that is added to y: [heads]. At most 16,384 heads, because it is a uniform buffer,
   * as bias is.
   */
  d: Buffer;
  /** The time steps' bias: [heads]. */
  bias: Buffer;
  /** Whether all channels and states of a head share one decay: Mamba 2. */
  scalarDecay: boolean;
}

/** Bytes of the state: [slots, states / 4, channels, 4]. */
export function scanStateBytes({ channels, states }: ScanShape, slots: number): number {
  return slots * channels * states * 4;
}

/** The rows of one sequence, without padding: see {@linkcode ScanInputs}. */
export interface ScanSequence {
  x: Float32Array;
  dt: Float32Array;
  b: Float32Array;
  c: Float32Array;
  z?: Float32Array;
}

/** The plain reference for one sequence, in f64: y [rows, channels]. */
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
