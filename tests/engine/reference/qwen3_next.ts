// Qwen3-Next (Qwen Team 2025) in small: three layers of a Gated DeltaNet and one of gated attention,
// each with experts beside a shared one that has a gate of its own.

import { addRows, attend } from "./attention.ts";
import { feedForward, mixture } from "./feed_forward.ts";
import { embed, HEADS, logits, type ReferenceModel, sizes, throughLayers, WIDTH } from "./model.ts";
import { add, multiply, scale, sigmoid, split, type Vector } from "./numbers.ts";
import { recording } from "./recording.ts";
import { CONVOLUTION, gatedDeltaNet } from "./recurrent.ts";
import { frequencies, rotateAll } from "./rope.ts";
import type { RandomWeights } from "./weights.ts";

const LAYERS = 5;
const ATTENTION_LAYER = 3;
const ROTARY = 16;
const BASE = 10_000_000;
const DELTA = { heads: 4, keyHeads: 2, dim: 32 };
const MIXTURE = { experts: 6, chosen: 2, hidden: 64, normalized: true };

/** The fourth layer has attention. */
export const qwen3Next: ReferenceModel = {
  architecture: "qwen3next",
  metadata: {
    ...sizes(LAYERS),
    "rope.dimension_count": ROTARY,
    "rope.freq_base": BASE,
    "full_attention_interval": 4,
    "ssm.conv_kernel": CONVOLUTION,
    "ssm.inner_size": DELTA.heads * DELTA.dim,
    "ssm.state_size": DELTA.dim,
    "ssm.time_step_rank": DELTA.heads,
    "ssm.group_count": DELTA.keyHeads,
    "expert_count": MIXTURE.experts,
    "expert_used_count": MIXTURE.chosen,
    "expert_feed_forward_length": MIXTURE.hidden,
    "expert_shared_feed_forward_length": MIXTURE.hidden,
  },
  runLayer,
  run(weights, tokens) {
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, runLayer);
    return logits(weights, rows.map((x) => weights.rmsNorm("output_norm", x)));
  },
};

/** The layer after the last, of a head for multi-token prediction, has attention too. */
function runLayer(layer: RandomWeights, rows: Vector[], index: number): Vector[] {
  const normed = rows.map((x) => layer.rmsNorm("attn_norm", x));
  const mixed = index === ATTENTION_LAYER || index >= LAYERS
    ? gatedAttention(layer, normed)
    : gatedDeltaNet(layer, normed, DELTA);
  return addRows(rows, mixed).map((x) => {
    const normed = layer.rmsNorm("post_attention_norm", x);
    const shared = feedForward(layer, normed, MIXTURE.hidden, { suffix: "_shexp" });
    const [gate] = layer.linear("ffn_gate_inp_shexp", normed, 1, { float: true });
    return add(x, add(mixture(layer, normed, MIXTURE), scale(shared, sigmoid(gate))));
  });
}

/** attn_q gives each head's query and gate; a part of each query and key turns. */
function gatedAttention(layer: RandomWeights, rows: readonly Vector[]): Vector[] {
  const { heads, kvHeads, headDim } = HEADS;
  const rotation = { frequencies: frequencies(ROTARY, BASE), pairs: "half" } as const;
  const both = rows.map((x) => {
    const all = split(layer.linear("attn_q", x, 2 * heads * headDim, { gain: 2 }), heads);
    return all.map((head) => split(head, 2));
  });
  const queries = both.map((heads) => heads.map(([query]) => layer.rmsNorm("attn_q_norm", query)));
  const gates = both.map((heads) => heads.flatMap(([, gate]) => gate.map(sigmoid)));
  const keysOf = (name: string) =>
    rows.map((x) => split(layer.linear(name, x, kvHeads * headDim), kvHeads));
  const keys = keysOf("attn_k").map((heads) =>
    heads.map((key) => layer.rmsNorm("attn_k_norm", key))
  );
  const values = keysOf("attn_v");
  const results = attend(rotateAll(queries, rotation), rotateAll(keys, rotation), values);
  const gated = results.map((x, i) => multiply(x, gates[i]));
  recording?.keep("attention.z", gated);
  return gated.map((x) => layer.linear("attn_output", x, WIDTH));
}
