// Llama (Touvron et al. 2023; Grattafiori et al. 2024): pre-norm decoder with RMSNorm, RoPE,
// grouped-query attention and SwiGLU. Biases, tied embeddings and RoPE scaling where the file has
// them. Dense models only.

import type { FloatRows, RopeOptions } from "../../kernels/mod.ts";
import { GgufError, UnsupportedModelError } from "../errors.ts";
import type { MetadataReader } from "../gguf/mod.ts";
import type { Network } from "../nn/mod.ts";
import type { WeightLoader } from "../weights.ts";
import type { Hyperparameters } from "./architecture.ts";

/** The model's numbers, beside their GGUF keys. */
function readConfig(metadata: MetadataReader, path: string) {
  const width = metadata.count("llama.embedding_length");
  const heads = metadata.count("llama.attention.head_count");
  const kvHeads = metadata.optionalCount("llama.attention.head_count_kv", heads);
  const headDim = metadata.optionalCount("llama.attention.key_length", width / heads);
  if (heads === 0 || kvHeads === 0 || heads % kvHeads !== 0) {
    const state = `${kvHeads} does not divide ${heads} query heads`;
    throw new GgufError(path, "llama.attention.head_count_kv", state);
  }
  if (headDim % 4 !== 0) {
    throw new UnsupportedModelError(
      `Cannot load "${path}": heads of ${headDim} elements are not supported, only multiples of 4`,
    );
  }
  if (metadata.optionalCount("llama.expert_count", 0) > 0) {
    throw new UnsupportedModelError(
      `Cannot load "${path}": mixture-of-experts is not supported yet`,
    );
  }
  return {
    width,
    heads,
    kvHeads,
    headDim,
    layers: metadata.count("llama.block_count"),
    epsilon: metadata.number("llama.attention.layer_norm_rms_epsilon"),
    rotary: metadata.optionalCount("llama.rope.dimension_count", headDim),
  };
}

function readRope(metadata: MetadataReader, weights: WeightLoader, rotary: number): RopeOptions {
  const scaling = metadata.optionalString("llama.rope.scaling.type", "none");
  const yarn = scaling === "yarn";
  const extension = metadata.optionalNumber("llama.rope.scaling.yarn_ext_factor", -1);
  return {
    rotary,
    base: metadata.optionalNumber("llama.rope.freq_base", 10000),
    scaling: yarn || scaling === "linear" ? scaling : "none",
    factor: metadata.optionalNumber("llama.rope.scaling.factor", 1),
    ...(weights.has("rope_freqs.weight")
      ? { frequencyFactors: weights.values("rope_freqs.weight") }
      : {}),
    originalContext: metadata.optionalCount(
      "llama.rope.scaling.original_context_length",
      metadata.optionalCount("llama.context_length", 2048),
    ),
    extensionFactor: extension < 0 ? (yarn ? 1 : 0) : extension,
    attentionFactor: metadata.optionalNumber("llama.rope.scaling.attn_factor", 1),
    betaFast: metadata.optionalNumber("llama.rope.scaling.yarn_beta_fast", 32),
    betaSlow: metadata.optionalNumber("llama.rope.scaling.yarn_beta_slow", 1),
  };
}

/** Loads a Llama and builds its forward step. Gives the logits [outputs, vocabulary]. */
export async function loadLlama(
  network: Network,
  weights: WeightLoader,
  { metadata, path }: Hyperparameters,
): Promise<FloatRows> {
  const config = readConfig(metadata, path);
  const { width, epsilon, heads, headDim } = config;
  const rope = { ...readRope(metadata, weights, config.rotary), halfPairs: false };
  const shape = { ...config, scale: 1 / Math.sqrt(headDim) };

  const embeddings = await weights.matrix("token_embd.weight", width);
  const x = network.embed(embeddings); // [rows, width]: the residual stream

  for (let i = 0; i < config.layers; i++) {
    const layer = `blk.${i}`;
    const attentionNorm = weights.vector(`${layer}.attn_norm.weight`);
    const qkvProjection = await weights.stack(
      [`${layer}.attn_q.weight`, `${layer}.attn_k.weight`, `${layer}.attn_v.weight`],
      width,
    );
    const outputProjection = await weights.stack([`${layer}.attn_output.weight`], heads * headDim);
    const feedForwardNorm = weights.vector(`${layer}.ffn_norm.weight`);
    const gateAndUp = await weights.gated(
      `${layer}.ffn_gate.weight`,
      `${layer}.ffn_up.weight`,
      width,
    );
    const down = await weights.stack(
      [`${layer}.ffn_down.weight`],
      weights.rowsOf(`${layer}.ffn_gate.weight`),
      { biasFirst: true },
    );

    // x += attention(norm(x))
    const normed = network.rmsNorm(x, attentionNorm, epsilon, qkvProjection);
    const qkv = network.linear(normed, qkvProjection, "qkv"); // [rows, q, k and v heads]
    const cache = network.layerCache(shape);
    network.rotate(qkv, cache, shape, rope);
    const attended = network.attention(qkv, cache, shape, outputProjection);
    network.addLinear(attended, outputProjection, x);

    // x += down(silu(gate(norm(x))) * up(norm(x)))
    const normedAgain = network.rmsNorm(x, feedForwardNorm, epsilon, gateAndUp);
    const hidden = network.swiglu(normedAgain, gateAndUp, down);
    network.addLinear(hidden, down, x);
  }

  const outputNorm = weights.vector("output_norm.weight");
  const head = weights.has("output.weight")
    ? await weights.matrix("output.weight", width)
    : embeddings; // tied
  return network.logits(network.outputNorm(x, outputNorm, epsilon, head), head);
}
