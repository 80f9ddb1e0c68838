// Layers that carry a state: Gated DeltaNet (Yang et al. 2024) as Qwen3-Next has it, and the mixer of
// Mamba 2 (Dao and Gu 2024); one token after the other, as the papers' recurrences read.

import {
  dot,
  multiply,
  rmsNormalize,
  scale,
  sigmoid,
  silu,
  softplus,
  split,
  type Vector,
} from "./numbers.ts";
import { EPSILON, type RandomWeights } from "./weights.ts";

/** Tokens that a convolution sees. */
export const CONVOLUTION = 4;

/** silu(convolution(x)) of each channel by itself, over a token and those before it. */
function convolve(layer: RandomWeights, rows: readonly Vector[], { bias = false } = {}): Vector[] {
  const channels = rows[0].length;
  const shape = [CONVOLUTION, channels];
  const weight = layer.vector("ssm_conv1d.weight", shape, { deviation: 0.5 });
  const shift = bias ? layer.vector("ssm_conv1d.bias", channels) : undefined;
  return rows.map((x, token) =>
    x.map((_, channel) => {
      let total = shift?.[channel] ?? 0;
      for (let back = 0; back < CONVOLUTION && back <= token; back++) {
        const tap = weight[channel * CONVOLUTION + CONVOLUTION - 1 - back];
        total += tap * rows[token - back][channel];
      }
      return silu(total);
    })
  );
}

/** Heads of values, of which neighbours share a head of queries and keys; elements of each. */
export interface DeltaShape {
  heads: number;
  keyHeads: number;
  dim: number;
}

/** The state maps keys to values; each token lets it fade and then corrects it. */
export function gatedDeltaNet(
  layer: RandomWeights,
  rows: readonly Vector[],
  { heads, keyHeads, dim }: DeltaShape,
): Vector[] {
  const [keySize, valueSize] = [keyHeads * dim, heads * dim];
  const mixed = convolve(
    layer,
    rows.map((x) => layer.linear("attn_qkv", x, 2 * keySize + valueSize, { gain: 2 })),
  );
  const decay = layer.vector("ssm_a", heads, { mean: -1 });
  const timeBias = layer.vector("ssm_dt.bias", heads);
  const normWeight = layer.vector("ssm_norm.weight", dim, { mean: 1 });
  const share = heads / keyHeads;
  const zeros = () => Array.from({ length: dim }, () => new Array<number>(dim).fill(0));
  const states = Array.from({ length: heads }, zeros); // [heads][values][keys]
  return rows.map((x, token) => {
    const queries = split(mixed[token].slice(0, keySize), keyHeads).map(unit);
    const keys = split(mixed[token].slice(keySize, 2 * keySize), keyHeads).map(unit);
    const values = split(mixed[token].slice(2 * keySize), heads);
    const gates = split(layer.linear("attn_gate", x, valueSize), heads);
    // For each key head: beta of its value heads, then alpha of its value heads.
    const betaAlpha = split(layer.linear("ssm_ba", x, 2 * heads), keyHeads);
    const normed = states.flatMap((state, head) => {
      const shared = Math.floor(head / share);
      const [betas, alphas] = split(betaAlpha[shared], 2);
      const beta = sigmoid(betas[head % share]);
      const fade = Math.exp(decay[head] * softplus(alphas[head % share] + timeBias[head]));
      const key = keys[shared];
      const result = state.map((row, i) => {
        const faded = scale(row, fade);
        const correction = beta * (values[head][i] - dot(faded, key));
        state[i] = faded.map((value, j) => value + correction * key[j]);
        return dot(state[i], queries[shared]) / Math.sqrt(dim);
      });
      const norm = multiply(rmsNormalize(result, EPSILON), normWeight);
      return multiply(norm, gates[head].map(silu));
    });
    return layer.linear("ssm_out", normed, x.length);
  });
}

/** A vector at length one. */
function unit(x: Vector): Vector {
  return scale(x, 1 / Math.sqrt(dot(x, x)));
}

/** Channels in heads that fade as one, and groups that share input and output vectors. */
export interface Mamba2Shape {
  channels: number;
  heads: number;
  groups: number;
  states: number;
}

/** Every channel has a state that fades, takes x B in, and gives C out. */
export function mamba2(
  layer: RandomWeights,
  rows: readonly Vector[],
  { channels, heads, groups, states }: Mamba2Shape,
): Vector[] {
  const vectors = groups * states;
  const mixedSize = channels + 2 * vectors;
  const projected = rows.map((x) => layer.linear("ssm_in", x, channels + mixedSize + heads));
  const mixed = convolve(layer, projected.map((x) => x.slice(channels, channels + mixedSize)), {
    bias: true,
  });
  const decay = layer.vector("ssm_a", [1, heads], { mean: -1 });
  const skip = layer.vector("ssm_d", [1, heads], { mean: 1 });
  const timeBias = layer.vector("ssm_dt.bias", heads);
  const normWeight = layer.vector("ssm_norm.weight", [channels / groups, groups], { mean: 1 });
  const memory = Array.from({ length: channels }, (): Vector => new Array(states).fill(0));
  return rows.map((x, token) => {
    const inputs = split(mixed[token].slice(channels, channels + vectors), groups);
    const outputs = split(mixed[token].slice(channels + vectors), groups);
    const times = projected[token].slice(channels + mixedSize);
    const scanned = memory.map((state, channel) => {
      const head = Math.floor(channel / (channels / heads));
      const group = Math.floor(head / (heads / groups));
      const time = softplus(times[head] + timeBias[head]);
      const fade = Math.exp(time * decay[head]);
      const input = mixed[token][channel];
      memory[channel] = state.map((s, i) => fade * s + time * inputs[group][i] * input);
      const gate = silu(projected[token][channel]);
      return gate * (dot(memory[channel], outputs[group]) + skip[head] * input);
    });
    const normed = split(scanned, groups).flatMap((part) => rmsNormalize(part, EPSILON));
    return layer.linear("ssm_out", multiply(normed, normWeight), x.length);
  });
}
