// A block of a transformer that encodes: attention, then a feed-forward block, each with a norm before it
// and, in some models, one after it.

import type { ActivationFunction, FloatRows, Norm } from "../../kernels/mod.ts";
import type { Layer } from "../nn/mod.ts";
import { type EncoderAttentionConfig, loadEncoderAttention } from "./attention.ts";
import { loadEncoderFeedForward } from "./feed_forward.ts";

/** The options of a block. */
export interface EncoderBlockConfig extends EncoderAttentionConfig {
  /** The activation function of the feed-forward block. */
  activation: ActivationFunction;
  /** Default "layer", with biases. */
  norm?: Norm["kind"];
  /** Whether the feed-forward block has a gate. Default false. */
  gated?: boolean;
  /** Whether a block's output is normed, with attn_post_norm and ffn_post_norm. Default false. */
  postNorms?: boolean;
}

/** x += attention(norm(x)); x += feedForward(norm(x)): ln1, attn_*, ln2, ffn_*. Errors: GgufError. */
export async function transform(
  layer: Layer,
  x: FloatRows,
  options: EncoderBlockConfig,
): Promise<void> {
  const { norm = "layer", gated = false, postNorms = false, activation, ...attention } = options;
  const { network } = layer;
  const attend = await loadEncoderAttention(layer, attention);
  const feedForward = await loadEncoderFeedForward(layer, activation, gated);
  const postNorm = (name: string) => postNorms ? encoderNorm(layer, name, norm) : undefined;
  attend.add(
    network.norm(x, encoderNorm(layer, "ln1", norm), attend),
    x,
    postNorm("attn_post_norm"),
  );
  const normed = network.norm(x, encoderNorm(layer, "ln2", norm), feedForward);
  feedForward.add(normed, x, postNorm("ffn_post_norm"));
}

/** A norm of an encoder: a LayerNorm with its bias, or an RMSNorm. Errors: GgufError. */
export function encoderNorm(layer: Layer, name: string, kind: Norm["kind"]): Norm {
  return kind === "layer" ? layer.layerNorm(name) : layer.norm(name, kind);
}
