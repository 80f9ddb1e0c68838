// gpt-oss (OpenAI 2025) in small: experts with biases and a clamped swish, whose weights are the
// softmax of the chosen ones' logits; attention sinks; a sliding window in every other layer; YaRN.

import { addRows, attend, project } from "./attention.ts";
import { clampedSwish, mixture } from "./feed_forward.ts";
import { embed, logits, type ReferenceModel, sizes, throughLayers, WIDTH } from "./model.ts";
import { add, type Vector } from "./numbers.ts";
import { rotateAll, yarn } from "./rope.ts";

const LAYERS = 4;
const HEADS = { heads: 8, kvHeads: 4, headDim: 32 };
const WINDOW = 8;
const STRETCH = { base: 150_000, factor: 32, original: 64 };
const MIXTURE = {
  experts: 6,
  chosen: 2,
  hidden: 64,
  // Softmax of the chosen is softmax of all, divided by its sum over the chosen.
  normalized: true,
  gate: clampedSwish,
  bias: true,
};

/** Layers with and without a window take turns. */
export const gptOss: ReferenceModel = {
  architecture: "gpt-oss",
  metadata: {
    ...sizes(LAYERS, HEADS),
    "attention.sliding_window": WINDOW,
    "rope.dimension_count": HEADS.headDim,
    "rope.freq_base": STRETCH.base,
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": STRETCH.factor,
    "rope.scaling.original_context_length": STRETCH.original,
    "expert_count": MIXTURE.experts,
    "expert_used_count": MIXTURE.chosen,
    "expert_feed_forward_length": MIXTURE.hidden,
  },
  run(weights, tokens) {
    const length = 1 + 0.1 * Math.log(STRETCH.factor);
    const turns = yarn(HEADS.headDim, STRETCH);
    const turned = (heads: Vector[][]) =>
      rotateAll(heads, { frequencies: turns, pairs: "half", length });
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows, index) => {
      const normed = rows.map((x) => layer.rmsNorm("attn_norm", x));
      const { queries, keys, values } = project(layer, normed, HEADS, { bias: true });
      const sinks = layer.vector("attn_sinks.weight", HEADS.heads, { mean: 2, deviation: 1 });
      const results = attend(turned(queries), turned(keys), values, {
        sinks,
        ...(index % 2 === 0 ? { window: WINDOW } : {}),
      });
      const attended = results.map((x) => layer.linear("attn_output", x, WIDTH, { bias: true }));
      return addRows(rows, attended).map((x) => {
        return add(x, mixture(layer, layer.rmsNorm("post_attention_norm", x), MIXTURE));
      });
    });
    return logits(weights, rows.map((x) => weights.rmsNorm("output_norm", x)));
  },
};
