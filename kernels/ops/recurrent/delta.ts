// The gated delta rule of Qwen3-Next and Qwen3.5, and of Kimi Linear, and its plain reference.

import type { Buffer } from "../../operation.ts";
import type { FloatRows } from "../activation.ts";
import { type ColumnRange, sigmoid, softplus } from "./segments.ts";

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
