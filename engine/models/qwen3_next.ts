// Qwen3-Next and Qwen3.5 (Qwen Team 2025, 2026): three of four layers have linear attention, a
// Gated DeltaNet; the fourth has attention whose result is gated. Most models have experts, and a
// shared one with a gate of its own. Qwen3.5 orders the key heads differently, and has M-RoPE.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";
import { type AddLayer, loadMtpHead, type MtpHead } from "./mtp_head.ts";

/** Qwen3-Next. */
export const qwen3Next: Architecture = {
  models: { "qwen3next": "Qwen3-Next, Qwen3-Coder-Next" },
  load: loadQwen3Next,
  loadMtpHead: loadQwen3NextMtp,
};

function loadQwen3Next(model: ModelBuilder): Promise<void> {
  model.ignore(/\b(ssm_\w+|attn_qkv|attn_gate)\.scale$/);
  return load(model, { tiledHeads: false });
}

/** Qwen3.5, dense or of experts. */
export const qwen35: Architecture = {
  models: {
    "qwen35": "Qwen3.5 (dense)",
    "qwen35moe": "Qwen3.5 MoE",
  },
  load: loadQwen35,
  loadMtpHead: loadQwen3NextMtp,
};

function loadQwen35(model: ModelBuilder): Promise<void> {
  return load(model, { tiledHeads: true });
}

/** Loads the MTP head of a Qwen3-Next or a Qwen3.5. Its layer has attention. */
function loadQwen3NextMtp(model: ModelBuilder): Promise<MtpHead> {
  return loadMtpHead(model, layersOf(model, { tiledHeads: false }));
}

async function load(model: ModelBuilder, delta: { tiledHeads: boolean }): Promise<void> {
  model.applyFeedForwardScales();
  const addLayer = layersOf(model, delta);
  const x = await model.embed();
  for (const layer of model.layers()) await addLayer(layer, x);
  await model.output(x, model.top.norm("output_norm"));
}

function layersOf(model: ModelBuilder, delta: { tiledHeads: boolean }): AddLayer {
  const { network, config } = model;
  const heads = model.heads();
  const attention = {
    ...heads,
    rope: model.rope({ pairs: "half", multiSection: "interleaved" }),
    scale: config.numberOr("attention.scale", 1 / Math.sqrt(heads.headDim)),
    queryKeyNorm: "head",
    gated: true,
  } as const;
  return async (layer, x) => {
    // Some files have the projections of linear attention in both layouts.
    if (layer.hasAny(["attn_qkv.weight", "attn_gate.weight"])) layer.ignore(/^ssm_in\./);
    const mixer = layer.isRecurrent
      ? await layer.gatedDelta(delta)
      : await layer.attention(attention);
    const feedForward = layer.hasExperts
      ? await layer.experts({ gating: "softmax", normalize: true, shared: "gated" })
      : await layer.feedForward();
    mixer.add(network.norm(x, layer.norm("attn_norm"), mixer), x);
    feedForward.add(network.norm(x, layer.norm("post_attention_norm"), feedForward), x);
  };
}
