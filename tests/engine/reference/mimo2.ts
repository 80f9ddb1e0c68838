// MiMo-V2 (Xiaomi 2026) in small: layers with and without a sliding window, of different numbers of key
// heads, with values shorter than keys; sinks and another rotation where there is a window; results of
// attention are scaled; a dense layer, then experts chosen by a sigmoid and a bias.

import { addRows, attend } from "./attention.ts";
import { feedForward, mixture } from "./feed_forward.ts";
import {
  embed,
  HIDDEN,
  logits,
  type ReferenceModel,
  sizes,
  throughLayers,
  WIDTH,
} from "./model.ts";
import { add, scale, sigmoid, split, type Vector } from "./numbers.ts";
import { frequencies, rotateAll } from "./rope.ts";
import type { RandomWeights } from "./weights.ts";

const HEADS = 8;
const [KEY, VALUE] = [32, 16];
const IS_LOCAL = [false, true, true, false];
const [LOCAL_KV_HEADS, GLOBAL_KV_HEADS] = [4, 2];
const [LOCAL_BASE, GLOBAL_BASE] = [10_000, 5_000_000];
const WINDOW = 9;
const ROTARY = 16;
const VALUE_SCALE = 0.7;
const MIXTURE = {
  experts: 6,
  chosen: 2,
  hidden: 64,
  score: (logits: Vector) => logits.map(sigmoid),
  normalized: true,
};

/** The first layer is dense, and the layers in the middle have a window. */
export const miMo2: ReferenceModel = {
  architecture: "mimo2",
  metadata: {
    ...sizes(IS_LOCAL.length, { heads: HEADS, kvHeads: GLOBAL_KV_HEADS, headDim: KEY }),
    "attention.head_count_kv": Uint32Array.from(IS_LOCAL, kvHeadsOf),
    "attention.value_length": VALUE,
    "attention.value_scale": VALUE_SCALE,
    "attention.sliding_window": WINDOW,
    "attention.sliding_window_pattern": IS_LOCAL,
    "rope.dimension_count": ROTARY,
    "rope.freq_base": GLOBAL_BASE,
    "rope.freq_base_swa": LOCAL_BASE,
    "expert_count": MIXTURE.experts,
    "expert_used_count": MIXTURE.chosen,
    "expert_feed_forward_length": MIXTURE.hidden,
  },
  runLayer,
  run(weights, tokens) {
    const rows = throughLayers(weights, embed(weights, tokens), IS_LOCAL.length, runLayer);
    return logits(weights, rows.map((x) => weights.rmsNorm("output_norm", x)));
  },
};

function kvHeadsOf(isLocal: boolean): number {
  return isLocal ? LOCAL_KV_HEADS : GLOBAL_KV_HEADS;
}

/** A head for multi-token prediction has a window, but neither sinks nor experts. */
function runLayer(layer: RandomWeights, rows: Vector[], index: number): Vector[] {
  const isHead = index >= IS_LOCAL.length;
  const isLocal = isHead || IS_LOCAL[index];
  const kvHeads = kvHeadsOf(isLocal);
  const normed = rows.map((x) => layer.rmsNorm("attn_norm", x));
  const heads = (name: string, count: number, length: number, gain = 1) =>
    normed.map((x) => split(layer.linear(name, x, count * length, { gain }), count));
  const rotation = {
    frequencies: frequencies(ROTARY, isLocal ? LOCAL_BASE : GLOBAL_BASE),
    pairs: "half",
  } as const;
  const results = attend(
    rotateAll(heads("attn_q", HEADS, KEY, 2), rotation),
    rotateAll(heads("attn_k", kvHeads, KEY), rotation),
    heads("attn_v", kvHeads, VALUE),
    {
      ...(isLocal && { window: WINDOW }),
      ...(isLocal && !isHead &&
        { sinks: layer.vector("attn_sinks.weight", HEADS, { mean: 2, deviation: 1 }) }),
    },
  );
  const attended = results.map((x) => scale(layer.linear("attn_output", x, WIDTH), VALUE_SCALE));
  return addRows(rows, attended).map((x) => {
    const normed = layer.rmsNorm("ffn_norm", x);
    if (index === 0 || isHead) return add(x, feedForward(layer, normed, HIDDEN));
    const choiceBias = layer.vector("exp_probs_b.bias", MIXTURE.experts);
    return add(x, mixture(layer, normed, { ...MIXTURE, choiceBias }));
  });
}
