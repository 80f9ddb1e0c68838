// A head for multi-token prediction (DeepSeek-V3, DeepSeek-AI 2024, equations 21 to 23) after the layers
// of a reference model, in small.

import { embed, logits, type ReferenceModel, throughLayers, WIDTH } from "./model.ts";
import type { Vector } from "./numbers.ts";
import type { RandomWeights } from "./weights.ts";

/** The model with the metadata of a file that has a head. */
export function withHead(model: ReferenceModel, heads = 1): ReferenceModel {
  const layers = layersOf(model);
  return {
    ...model,
    metadata: { ...model.metadata, "block_count": layers + heads, "nextn_predict_layers": heads },
  };
}

/** The number of a model's layers. */
export function layersOf({ metadata }: ReferenceModel): number {
  return Number(metadata["block_count"]) - Number(metadata["nextn_predict_layers"] ?? 0);
}

/** The hidden states of a model's tokens before its head. */
export function finalStates(
  model: ReferenceModel,
  weights: RandomWeights,
  tokens: readonly number[],
): Vector[] {
  const rows = throughLayers(weights, embed(weights, tokens), layersOf(model), model.runLayer!);
  return rows.map((x) => weights.rmsNorm("output_norm", x));
}

/**
 * Runs the head.
 *
 * @param previous the state of the position before each token; of the first one zeros
 */
export function runHead(
  model: ReferenceModel,
  weights: RandomWeights,
  tokens: readonly number[],
  previous: readonly Vector[],
): { states: Vector[]; logits: Vector[] } {
  const index = layersOf(model);
  const layer = weights.layer(index);
  const rows = embed(weights, tokens).map((x, i) => {
    const both = [...layer.rmsNorm("nextn.enorm", x), ...layer.rmsNorm("nextn.hnorm", previous[i])];
    return layer.linear("nextn.eh_proj", both, WIDTH);
  });
  const states = model.runLayer!(layer, rows, index)
    .map((x) => layer.rmsNorm("nextn.shared_head_norm", x));
  return { states, logits: logits(weights, states) };
}
