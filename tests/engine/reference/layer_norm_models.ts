// Decoders with LayerNorm in small, most of which add attention and feed-forward together: GPT-NeoX
// (Black et al. 2022), Falcon (Almazrouei et al. 2023), Phi-2 (Li et al. 2023), Command R+ (Cohere
// 2024), StableLM 2 12B (Bellagente et al. 2024).

import { attend, type Heads, project, type Projected, projectFused } from "./attention.ts";
import { feedForward, ungated } from "./feed_forward.ts";
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
import { add, gelu, multiply, normalize, scale, split, sum, type Vector } from "./numbers.ts";
import { frequencies, rotateAll, type Rotation } from "./rope.ts";
import { EPSILON, type RandomWeights } from "./weights.ts";

const LAYERS = 3;
const BASE = 10_000;

/** The first `rotary` elements of each head turn. */
function rotationOf(rotary: number, pairs: Rotation["pairs"]): Rotation {
  return { frequencies: frequencies(rotary, BASE), pairs };
}

/** attn_output of attention. */
function attention(
  layer: RandomWeights,
  { queries, keys, values }: Projected,
  rotation: Rotation,
  { bias = false } = {},
): Vector[] {
  const results = attend(rotateAll(queries, rotation), rotateAll(keys, rotation), values);
  return results.map((x) => layer.linear("attn_output", x, WIDTH, { bias }));
}

/** LayerNorm of every head, each with weights of its own. */
function normHeads(layer: RandomWeights, name: string, tokens: readonly Vector[][]): Vector[][] {
  const [heads, size] = [tokens[0].length, tokens[0][0].length];
  const weights = split(layer.vector(`${name}.weight`, [size, heads], { mean: 1 }), heads);
  return tokens.map((vectors) => {
    return vectors.map((head, i) => multiply(normalize(head, EPSILON), weights[i]));
  });
}

function withHeadNorms(layer: RandomWeights, { queries, keys, values }: Projected): Projected {
  return {
    queries: normHeads(layer, "attn_q_norm", queries),
    keys: normHeads(layer, "attn_k_norm", keys),
    values,
  };
}

/** Partial rotation, biases everywhere; both blocks have a norm, and read x or one the other. */
export function gptNeox({ parallel }: { parallel: boolean }): ReferenceModel {
  const rotary = 8;
  return {
    architecture: "gptneox",
    metadata: {
      ...sizes(LAYERS),
      "rope.dimension_count": rotary,
      "use_parallel_residual": parallel,
    },
    run(weights, tokens) {
      const rotation = rotationOf(rotary, "half");
      const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows) => {
        const normed = rows.map((x) => layer.layerNorm("attn_norm", x));
        const projected = projectFused(layer, normed, HEADS, { bias: true });
        const attended = attention(layer, projected, rotation, { bias: true });
        return rows.map((x, i) => {
          const both = add(x, attended[i]);
          const normed = layer.layerNorm("ffn_norm", parallel ? x : both);
          return add(both, ungated(layer, normed, HIDDEN, gelu));
        });
      });
      return logits(weights, rows.map((x) => weights.layerNorm("output_norm", x)));
    },
  };
}

/** Falcon 7B: one key head for 71 of queries, one norm for both blocks. */
const FALCON_HEADS: Heads = { heads: 71, kvHeads: 1, headDim: 32 };

export const falcon: ReferenceModel = {
  architecture: "falcon",
  metadata: sizes(LAYERS, FALCON_HEADS),
  run(weights, tokens) {
    const rotation = rotationOf(FALCON_HEADS.headDim, "half");
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows) => {
      const normed = rows.map((x) => layer.layerNorm("attn_norm", x));
      const attended = attention(layer, projectFused(layer, normed, FALCON_HEADS), rotation);
      return rows.map((x, i) => {
        return sum([x, attended[i], ungated(layer, normed[i], HIDDEN, gelu, { bias: false })]);
      });
    });
    return logits(weights, rows.map((x) => weights.layerNorm("output_norm", x)));
  },
};

/** One norm for both blocks, half of each head turns, biases everywhere, also on the logits. */
export const phi2: ReferenceModel = {
  architecture: "phi2",
  metadata: { ...sizes(LAYERS), "rope.dimension_count": 16 },
  run(weights, tokens) {
    const rotation = rotationOf(16, "half");
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows) => {
      const normed = rows.map((x) => layer.layerNorm("attn_norm", x));
      const projected = project(layer, normed, HEADS, { bias: true });
      const attended = attention(layer, projected, rotation, { bias: true });
      return rows.map((x, i) => sum([x, attended[i], ungated(layer, normed[i], HIDDEN, gelu)]));
    });
    const normed = rows.map((x) => weights.layerNorm("output_norm", x));
    return logits(weights, normed, { bias: true });
  },
};

/** Two blocks of a layer read one norm; each head of queries and keys has a norm of its own. */
function parallelLayer(
  layer: RandomWeights,
  rows: readonly Vector[],
  { rotation, bias }: { rotation: Rotation; bias: boolean },
): Vector[] {
  const normed = rows.map((x) => layer.layerNorm("attn_norm", x, { bias }));
  const projected = withHeadNorms(layer, project(layer, normed, HEADS));
  const attended = attention(layer, projected, rotation);
  return rows.map((x, i) => sum([x, attended[i], feedForward(layer, normed[i], HIDDEN)]));
}

const LOGIT_SCALE = 0.25;

/** Norms without biases; the embeddings are the head, whose logits are scaled. */
export const commandR: ReferenceModel = {
  architecture: "command-r",
  metadata: { ...sizes(LAYERS), "logit_scale": LOGIT_SCALE },
  run(weights, tokens) {
    const rotation = rotationOf(HEADS.headDim, "adjacent");
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows) => {
      return parallelLayer(layer, rows, { rotation, bias: false });
    });
    const normed = rows.map((x) => weights.layerNorm("output_norm", x, { bias: false }));
    return logits(weights, normed, { tied: true }).map((x) => scale(x, LOGIT_SCALE));
  },
};

/** A quarter of each head turns. */
export const stableLm: ReferenceModel = {
  architecture: "stablelm",
  metadata: { ...sizes(LAYERS), "rope.dimension_count": 8, "use_parallel_residual": true },
  run(weights, tokens) {
    const rotation = rotationOf(8, "half");
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows) => {
      return parallelLayer(layer, rows, { rotation, bias: true });
    });
    return logits(weights, rows.map((x) => weights.layerNorm("output_norm", x)));
  },
};
