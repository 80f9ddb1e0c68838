// What the recurrent operations share: the sequences of a step, and inputs that are columns of
// wider rows. Each operation defines the layout of its state.

import { described, FUNCTION_FLOPS, NORM_FLOPS } from "./described.ts";
import type { Buffer } from "../operation.ts";
import { FLOAT, valueBytes } from "./work.ts";
import type { FloatRows } from "./activation.ts";

/** The sequences of a step. */
export interface StepSegments {
  /** The rows of the step: [rows] of {@linkcode STEP_ROW}. */
  rows: Buffer;
  /** A segment for each sequence, in order of rows: [sequences] of {@linkcode STEP_SEGMENT}. */
  segments: Buffer;
}

/**
 * The columns of rows from `first` on, so that several kernels can read the result of one
 * projection.
 */
export interface ColumnRange {
  readonly rows: FloatRows;
  readonly first: number;
}

/** softplus in double precision. */
export function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

/** sigmoid in double precision. */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

// The causal convolution before a recurrence, or instead of one (LFM2), and its plain reference.

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

// The gated delta rule of Qwen3-Next and Qwen3.5, and of Kimi Linear, and its plain reference.

/** Sizes of a delta rule. */
export interface DeltaShape {
  /** Heads of values, gates and results. */
  heads: number;
  /** Heads of queries and keys; a divisor of `heads`. */
  keyHeads: number;
  /** Elements of every head, a multiple of 32. */
  dim: number;
  /**
   * Whether value head h has key head h % keyHeads. Otherwise neighbouring value heads share a key
   * head.
   */
  tiledHeads?: boolean;
}

/** The inputs of a delta rule in each row. */
export interface DeltaInputs {
  /**
   * Rows of q, k and v after the convolution, and their first columns, which are multiples of four.
   */
  qkv: { rows: FloatRows; q: number; k: number; v: number };
  /** The decay before bias and softplus: [heads], or [heads, dim] with `vectorGate`. */
  alpha: ColumnRange;
  /** The update's strength before sigmoid: [heads]. */
  beta: ColumnRange;
}

/** The parameters of a delta rule, as in GGUF files. */
export interface DeltaWeights {
  /** The negated rate of decay: [heads]. */
  a: Buffer;
  /** The bias of alpha, with alpha's shape. */
  bias: Buffer;
  /** Whether every element of a key has its own decay, as in Kimi Delta Attention. */
  vectorGate: boolean;
  /** Least length by which q and k are divided. */
  epsilon: number;
}

/** Bytes of the state: [slots, heads, dim / 4, dim, 4]. */
export function deltaStateBytes({ heads, dim }: DeltaShape, slots: number): number {
  return slots * heads * dim * dim * 4;
}

/** The rows of one sequence: q and k [rows, keyHeads, dim], v [rows, heads, dim], and the gates. */
export interface DeltaSequence {
  q: Float32Array;
  k: Float32Array;
  v: Float32Array;
  alpha: Float32Array;
  beta: Float32Array;
}

/** The plain reference for one sequence, in f64: y [rows, heads, dim]. */
export function gatedDeltaReference(
  { q, k, v, alpha, beta }: DeltaSequence,
  { a, bias, epsilon }: { a: Float32Array; bias: Float32Array; epsilon: number },
  { heads, keyHeads, dim, tiledHeads }: DeltaShape,
): Float32Array {
  const y = new Float32Array(v.length);
  const rows = beta.length / heads;
  for (let head = 0; head < heads; head++) {
    const keyHead = tiledHeads ? head % keyHeads : Math.floor(head * keyHeads / heads);
    const state = Array.from({ length: dim }, () => new Float64Array(dim));
    for (let row = 0; row < rows; row++) {
      const key = unit(k, (row * keyHeads + keyHead) * dim, dim, epsilon);
      const query = unit(q, (row * keyHeads + keyHead) * dim, dim, epsilon);
      const strength = sigmoid(beta[row * heads + head]);
      const decays = key.map((_, j) => {
        const column = bias.length === heads ? head : head * dim + j;
        return Math.exp(a[head] * softplus(alpha[row * bias.length + column] + bias[column]));
      });
      state.forEach((values, i) => {
        const at = (row * heads + head) * dim + i;
        decays.forEach((decay, j) => values[j] *= decay);
        const change = strength * (v[at] - dot(values, key));
        key.forEach((element, j) => values[j] += change * element);
        y[at] = dot(values, query) / Math.sqrt(dim);
      });
    }
  }
  return y;
}

function unit(x: Float32Array, from: number, dim: number, epsilon: number): Float64Array {
  const vector = Float64Array.from(x.subarray(from, from + dim));
  const length = Math.max(Math.sqrt(dot(vector, vector)), epsilon);
  return vector.map((value) => value / length);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

// The selective scan of Mamba and Mamba 2, and its plain reference.

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

// RMSNorm by groups with the gate of a recurrent layer, and its plain reference. Unlike ../norm.ts
// it takes columns from anywhere in wider rows.

export interface GatedNormOptions {
  /** Groups of a row, each normalized by itself. */
  groups: number;
  /** Weights: [groups, columns of a group], or [columns of a group] with `sharedWeight`. */
  weight: Buffer;
  sharedWeight?: boolean;
  epsilon: number;
  /** The gate, whose activation multiplies the result. */
  gate?: GatedNormGate & { z: ColumnRange };
}

/** The activation of a gate. */
export interface GatedNormGate {
  activation: "silu" | "sigmoid";
}

/** The plain reference, in f64: x and z [rows, groups, columns], weight as in the options. */
export function gatedNormReference(
  x: Float32Array,
  columns: number,
  weight: Float32Array,
  epsilon: number,
  gate?: GatedNormGate & { z: Float32Array },
): Float32Array {
  const gates = Float64Array.from(gate?.z ?? [], (value) => {
    return gate?.activation === "sigmoid" ? sigmoid(value) : value * sigmoid(value);
  });
  const y = new Float32Array(x.length);
  for (let first = 0, group = 0; first < x.length; first += columns, group++) {
    let squares = 0;
    for (let k = 0; k < columns; k++) squares += x[first + k] ** 2;
    const scale = 1 / Math.sqrt(squares / columns + epsilon);
    for (let k = 0; k < columns; k++) {
      const factor = weight[(group * columns + k) % weight.length];
      y[first + k] = x[first + k] * scale * factor * (gates[first + k] ?? 1);
    }
  }
  return y;
}

/** The facts of these operations, from their operands. */
export const recurrentOperands = {
  /** The causal convolution of columns of x, for `segments` segments of at most `longest` rows. */
  convolution(
    x: ColumnRange,
    y: FloatRows,
    { rows, segments }: StepSegments,
    state: Buffer,
    { width, gates }: ConvolutionOptions,
  ) {
    return described("convolution", [x, state, rows, segments], [y, state], {
      reads: valueBytes(y) * (gates ? 3 : 1),
      writes: valueBytes(y),
      flops: 2 * width * y.columns,
      weights: FLOAT * width * y.columns,
      state: FLOAT * (width - 1) * y.columns,
    });
  },
  /** The selective scan of Mamba, for `segments` segments. */
  scan(
    { x, dt, b, c, z }: ScanInputs,
    y: FloatRows,
    { rows, segments }: StepSegments,
    state: Buffer,
    _weights: ScanWeights,
    { channels, heads, groups, states }: ScanShape,
  ) {
    const reads = [x, dt, b, c, ...z ? [z] : [], state, rows, segments];
    return described("selective scan", reads, [y, state], {
      reads: FLOAT * (channels * (z ? 2 : 1) + heads + 2 * groups * states),
      writes: FLOAT * channels,
      flops: 6 * channels * states,
      state: FLOAT * channels * states,
    });
  },
  /** The gated delta rule, for `segments` segments. */
  deltaRule(
    { qkv, alpha, beta }: DeltaInputs,
    y: FloatRows,
    { rows, segments }: StepSegments,
    state: Buffer,
    _weights: DeltaWeights,
    { heads, keyHeads, dim }: DeltaShape,
  ) {
    const reads = [qkv.rows, alpha, beta, state, rows, segments];
    return described("gated delta rule", reads, [y, state], {
      reads: FLOAT * ((2 * keyHeads + heads) * dim + 2 * heads),
      writes: FLOAT * heads * dim,
      flops: 7 * heads * dim ** 2,
      state: FLOAT * heads * dim ** 2,
    });
  },
  /** The norm of each group of x, times the activation of its gate, for `rows` rows. */
  gatedNorm(x: ColumnRange, y: FloatRows, { gate }: GatedNormOptions) {
    return described("gated norm", gate ? [x, gate.z] : [x], [y], {
      reads: valueBytes(y) * (gate ? 2 : 1),
      writes: valueBytes(y),
      flops: (NORM_FLOPS + (gate ? FUNCTION_FLOPS : 0)) * y.columns,
    });
  },
};
