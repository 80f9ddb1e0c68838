// The recurrent operations in plain TypeScript, each sequence after the other. States lie as
// kernels/ops/recurrent says: zero for a sequence whose first row is at position 0.

import type { FloatRows } from "../../ops/activation.ts";
import type {
  ColumnRange,
  ConvolutionOptions,
  DeltaInputs,
  DeltaShape,
  DeltaWeights,
  ScanInputs,
  ScanShape,
  ScanWeights,
  StepSegments,
} from "../../ops/recurrent/mod.ts";
import { sigmoid, softplus } from "../../ops/recurrent/segments.ts";
import type { Buffer } from "../../operation.ts";
import { cpu } from "../memory.ts";
import { floatsOf } from "./rows.ts";

/** The rows of one sequence in a step. */
interface Segment {
  first: number;
  count: number;
  slot: number;
  /** Whether its state counts as zero. */
  fresh: boolean;
}

function readSegment({ rows, segments }: StepSegments, index: number): Segment {
  const [first, count] = cpu(segments).words.subarray(4 * index, 4 * index + 2);
  const [, position, slot] = cpu(rows).words.subarray(4 * first, 4 * first + 3);
  return { first, count, slot, fresh: position === 0 };
}

/** The causal convolution of columns of x. State: [slots, width - 1, channels]. */
export function convolution(
  x: ColumnRange,
  y: FloatRows,
  step: StepSegments,
  state: Buffer,
  { width, weight, bias, silu = false, gates }: ConvolutionOptions,
) {
  const [from, to, kept] = [floatsOf(x.rows), floatsOf(y), cpu(state).floats];
  const weights = cpu(weight).floats;
  const biases = bias && cpu(bias).floats;
  const { stride } = x.rows;
  const channels = y.columns;
  const history = width - 1;
  return (segments: number) => {
    for (let index = 0; index < segments; index++) {
      const { first, count, slot, fresh } = readSegment(step, index);
      const states = kept.subarray(slot * history * channels, (slot + 1) * history * channels);
      if (fresh) states.fill(0);
      const inputs = new Float32Array((history + count) * channels);
      inputs.set(states);
      for (let row = 0; row < count; row++) {
        const at = (first + row) * stride;
        for (let channel = 0; channel < channels; channel++) {
          const value = from[at + x.first + channel];
          inputs[(history + row) * channels + channel] = gates
            ? value * from[at + gates.input + channel]
            : value;
        }
      }
      for (let row = 0; row < count; row++) {
        for (let channel = 0; channel < channels; channel++) {
          let sum = biases?.[channel] ?? 0;
          for (let j = 0; j < width; j++) {
            sum += weights[channel * width + j] * inputs[(row + j) * channels + channel];
          }
          if (silu) sum *= sigmoid(sum);
          if (gates) sum *= from[(first + row) * stride + gates.output + channel];
          to[(first + row) * y.stride + channel] = sum;
        }
      }
      states.set(inputs.subarray(count * channels));
    }
  };
}

/** The selective scan of Mamba. State: [slots, channels, states]. */
export function scan(
  { x, dt, b, c, z }: ScanInputs,
  y: FloatRows,
  step: StepSegments,
  state: Buffer,
  { a, d, bias, scalarDecay }: ScanWeights,
  { channels, heads, groups, states }: ScanShape,
) {
  const [xs, dts, bs, cs] = [x, dt, b, c].map(({ rows }) => floatsOf(rows));
  const zs = z && floatsOf(z.rows);
  const [decays, direct, biases, kept] = [a, d, bias, state].map((one) => cpu(one).floats);
  const to = floatsOf(y);
  return (segments: number) => {
    for (let index = 0; index < segments; index++) {
      const { first, count, slot, fresh } = readSegment(step, index);
      const h = kept.subarray(slot * channels * states, (slot + 1) * channels * states);
      if (fresh) h.fill(0);
      for (let row = first; row < first + count; row++) {
        for (let channel = 0; channel < channels; channel++) {
          const head = Math.floor(channel * heads / channels);
          const shared = Math.floor(channel * groups / channels) * states;
          const input = xs[row * x.rows.stride + x.first + channel];
          const time = softplus(dts[row * dt.rows.stride + dt.first + head] + biases[head]);
          const bAt = row * b.rows.stride + b.first + shared;
          const cAt = row * c.rows.stride + c.first + shared;
          let sum = direct[head] * input;
          for (let n = 0; n < states; n++) {
            const at = channel * states + n;
            const decay = Math.exp(time * decays[scalarDecay ? head : at]);
            h[at] = decay * h[at] + time * bs[bAt + n] * input;
            sum += cs[cAt + n] * h[at];
          }
          if (z && zs) {
            const gate = zs[row * z.rows.stride + z.first + channel];
            sum *= gate * sigmoid(gate);
          }
          to[row * y.stride + channel] = sum;
        }
      }
    }
  };
}

/** The gated delta rule. State: [slots, heads, dim values, dim keys]. */
export function deltaRule(
  { qkv, alpha, beta }: DeltaInputs,
  y: FloatRows,
  step: StepSegments,
  state: Buffer,
  { a, bias, vectorGate, epsilon }: DeltaWeights,
  { heads, keyHeads, dim, tiledHeads = false }: DeltaShape,
) {
  const [x, alphas, betas] = [qkv, alpha, beta].map(({ rows }) => floatsOf(rows));
  const [rates, biases, kept] = [a, bias, state].map((one) => cpu(one).floats);
  const to = floatsOf(y);
  const [key, query, decays] = [0, 1, 2].map(() => new Float64Array(dim));
  const readUnit = (into: Float64Array, at: number) => {
    let squares = 0;
    for (let j = 0; j < dim; j++) squares += x[at + j] ** 2;
    const length = Math.max(Math.sqrt(squares), epsilon);
    for (let j = 0; j < dim; j++) into[j] = x[at + j] / length;
  };
  const runRow = (row: number, head: number, matrix: Float32Array) => {
    const keyHead = tiledHeads ? head % keyHeads : Math.floor(head * keyHeads / heads);
    const at = row * qkv.rows.stride;
    readUnit(key, at + qkv.k + keyHead * dim);
    readUnit(query, at + qkv.q + keyHead * dim);
    const strength = sigmoid(betas[row * beta.rows.stride + beta.first + head]);
    const alphaAt = row * alpha.rows.stride + alpha.first;
    for (let j = 0; j < dim; j++) {
      const column = vectorGate ? head * dim + j : head;
      decays[j] = Math.exp(rates[head] * softplus(alphas[alphaAt + column] + biases[column]));
    }
    for (let i = 0; i < dim; i++) {
      let known = 0;
      for (let j = 0; j < dim; j++) known += (matrix[i * dim + j] *= decays[j]) * key[j];
      const change = strength * (x[at + qkv.v + head * dim + i] - known);
      let sum = 0;
      for (let j = 0; j < dim; j++) sum += (matrix[i * dim + j] += change * key[j]) * query[j];
      to[row * y.stride + head * dim + i] = sum / Math.sqrt(dim);
    }
  };
  return (segments: number) => {
    for (let index = 0; index < segments; index++) {
      const { first, count, slot, fresh } = readSegment(step, index);
      for (let head = 0; head < heads; head++) {
        const at = (slot * heads + head) * dim * dim;
        const matrix = kept.subarray(at, at + dim * dim);
        if (fresh) matrix.fill(0);
        for (let row = first; row < first + count; row++) runRow(row, head, matrix);
      }
    }
  };
}
