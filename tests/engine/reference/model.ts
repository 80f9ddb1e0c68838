// What reference models share: their sizes, which are the same so that few kernels are compiled, and
// their beginning and end. A model says what its file's metadata is, and what it computes.

import type { Heads } from "./attention.ts";
import { scale, type Vector } from "./numbers.ts";
import { recording } from "./recording.ts";
import type { RandomWeights } from "./weights.ts";
import { EPSILON } from "./weights.ts";

/** Columns of the residual stream; hidden columns of a feed-forward block; tokens. */
export const [WIDTH, HIDDEN, VOCABULARY] = [96, 160, 300];

/** Heads of most models. */
export const HEADS: Heads = { heads: 4, kvHeads: 2, headDim: 32 };

/** A model that tests compare the engine with. */
export interface ReferenceModel {
  /** GGUF's name. */
  readonly architecture: string;
  /** Without the architecture's name before the keys. */
  readonly metadata: Readonly<
    Record<string, string | number | boolean | readonly boolean[] | Uint32Array>
  >;
  /** Logits of every token, [tokens][vocabulary]; of an encoder, what its embeddings are pooled from. */
  run(weights: RandomWeights, tokens: readonly number[]): Vector[];
  /** The rows after one layer; missing where no test needs a layer of its own. */
  readonly runLayer?: RunLayer;
}

/** Runs a layer. @param index its number */
export type RunLayer = (layer: RandomWeights, rows: Vector[], index: number) => Vector[];

/** The metadata that all models have. */
export function sizes(layers: number, { heads, kvHeads, headDim }: Heads = HEADS) {
  return {
    "block_count": layers,
    "context_length": 512,
    "embedding_length": WIDTH,
    "feed_forward_length": HIDDEN,
    "vocab_size": VOCABULARY,
    "attention.head_count": heads,
    "attention.head_count_kv": kvHeads,
    "attention.key_length": headDim,
    "attention.value_length": headDim,
    "attention.layer_norm_epsilon": EPSILON,
    "attention.layer_norm_rms_epsilon": EPSILON,
  };
}

/** The rows of tokens, times `factor`. */
export function embed(weights: RandomWeights, tokens: readonly number[], factor = 1): Vector[] {
  return tokens.map((token) => {
    return scale(weights.embedding("token_embd", token, WIDTH, VOCABULARY), factor);
  });
}

/** The rows after all layers. */
export function throughLayers(
  weights: RandomWeights,
  rows: Vector[],
  layers: number,
  run: RunLayer,
): Vector[] {
  for (let i = 0; i < layers; i++) {
    recording?.enter(i);
    recording?.keep("residual.pre", rows);
    rows = run(weights.layer(i), rows, i);
    recording?.keep("residual.post", rows);
  }
  return rows;
}

/** Logits by `output`, or by the embeddings. */
export function logits(
  weights: RandomWeights,
  normed: readonly Vector[],
  { tied = false, bias = false } = {},
): Vector[] {
  const name = tied ? "token_embd" : "output";
  return normed.map((x) => weights.linear(name, x, VOCABULARY, { bias }));
}
