// Gemma 2 (Gemma Team 2024) and Gemma 3 (Gemma Team 2025) in small: norms before and after each block,
// GELU, scaled embeddings that are the head too, layers with a sliding window. The former caps scores
// and logits; the latter norms queries and keys, and has another rotation in layers without a window.

import { addRows, attend, type AttentionOptions, project } from "./attention.ts";
import { feedForward } from "./feed_forward.ts";
import {
  embed,
  HEADS,
  HIDDEN,
  logits,
  type ReferenceModel,
  sizes,
  throughLayers,
  WIDTH,
} from "./model.ts";
import { add, gelu, multiply, scale, softcap, type Vector } from "./numbers.ts";
import { frequencies, rotateAll, type Rotation } from "./rope.ts";
import type { RandomWeights } from "./weights.ts";

const WINDOW = 8;
const LOCAL_BASE = 10_000;

/** What a layer of one kind of attention does. */
interface LayerKind {
  attention: AttentionOptions;
  rotation: Rotation;
  /** Norms of each head of queries and keys. */
  headNorms: boolean;
}

function rotationOf(base: number, stretch = 1): Rotation {
  const turns = scale(frequencies(HEADS.headDim, base), 1 / stretch);
  return { frequencies: turns, pairs: "half" };
}

function geglu(gate: Vector, up: Vector): Vector {
  return multiply(gate.map(gelu), up);
}

function runLayer(layer: RandomWeights, rows: Vector[], kind: LayerKind): Vector[] {
  const { attention, rotation, headNorms } = kind;
  const { queries, keys, values } = project(
    layer,
    rows.map((x) => layer.rmsNorm("attn_norm", x)),
    HEADS,
  );
  const turned = (name: string, tokens: Vector[][]) => {
    const norm = (head: Vector) => headNorms ? layer.rmsNorm(name, head) : head;
    return rotateAll(tokens.map((heads) => heads.map(norm)), rotation);
  };
  const results = attend(
    turned("attn_q_norm", queries),
    turned("attn_k_norm", keys),
    values,
    attention,
  );
  const attended = results.map((x) => {
    return layer.rmsNorm("post_attention_norm", layer.linear("attn_output", x, WIDTH));
  });
  return addRows(rows, attended).map((x) => {
    const result = feedForward(layer, layer.rmsNorm("ffn_norm", x), HIDDEN, { gate: geglu });
    return add(x, layer.rmsNorm("post_ffw_norm", result));
  });
}

/** Every other layer has a window, the first one too. */
export const gemma2: ReferenceModel = {
  architecture: "gemma2",
  metadata: {
    ...sizes(3),
    "attention.sliding_window": WINDOW,
    "attn_logit_softcapping": 2,
    "final_logit_softcapping": 3,
  },
  run(weights, tokens) {
    const rotation = rotationOf(LOCAL_BASE);
    const embedded = embed(weights, tokens, Math.sqrt(WIDTH));
    const rows = throughLayers(weights, embedded, 3, (layer, rows, index) => {
      const attention = index % 2 === 0 ? { cap: 2, window: WINDOW } : { cap: 2 };
      return runLayer(layer, rows, { attention, rotation, headNorms: false });
    });
    const normed = rows.map((x) => weights.rmsNorm("output_norm", x));
    return logits(weights, normed, { tied: true }).map((x) => x.map((y) => softcap(y, 3)));
  },
};

const [GLOBAL_BASE, GLOBAL_STRETCH] = [1_000_000, 8];

/** Five layers with a window are followed by one without. */
export const gemma3: ReferenceModel = {
  architecture: "gemma3",
  metadata: {
    ...sizes(7),
    "attention.sliding_window": WINDOW,
    "rope.freq_base": GLOBAL_BASE,
    "rope.scaling.type": "linear",
    "rope.scaling.factor": GLOBAL_STRETCH,
  },
  run(weights, tokens) {
    const local = { attention: { window: WINDOW }, rotation: rotationOf(LOCAL_BASE) };
    const global = { attention: {}, rotation: rotationOf(GLOBAL_BASE, GLOBAL_STRETCH) };
    const embedded = embed(weights, tokens, Math.sqrt(WIDTH));
    const rows = throughLayers(weights, embedded, 7, (layer, rows, index) => {
      return runLayer(layer, rows, { ...(index === 5 ? global : local), headNorms: true });
    });
    const normed = rows.map((x) => weights.rmsNorm("output_norm", x));
    return logits(weights, normed, { tied: true });
  },
};
