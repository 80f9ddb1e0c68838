// MiMo-V2 (Xiaomi 2026): most layers have a sliding window, heads of keys and a rotation of their own, and
// attention sinks; values are shorter than keys, and results of attention are scaled. After dense layers
// come experts chosen by a sigmoid with a bias. Heads for multi-token prediction have a window and a dense
// block.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";
import { type AddLayer, loadMtpHead, type MtpHead } from "./mtp_head.ts";

/** MiMo-V2. */
export const miMo2: Architecture = {
  models: { "mimo2": "MiMo-V2-Flash" },
  load: loadMiMo2,
  loadMtpHead: loadMiMo2Mtp,
};

/** What tells that a layer has experts. */
const OF_EXPERTS = ["gate_inp", "gate_exps", "up_exps", "down_exps"]
  .map((part) => `ffn_${part}.weight`);

async function loadMiMo2(model: ModelBuilder): Promise<void> {
  const addLayer = layersOf(model);
  const x = await model.embed();
  for (const layer of model.layers()) await addLayer(layer, x);
  await model.output(x, model.top.norm("output_norm"), { head: "required" });
}

function loadMiMo2Mtp(model: ModelBuilder): Promise<MtpHead> {
  return loadMtpHead(model, layersOf(model));
}

function layersOf(model: ModelBuilder): AddLayer {
  const { network, config } = model;
  // llama.cpp, which defines what files mean, reads no biases and scales of these, nor the dense blocks of
  // layers with experts.
  model.ignore(/\bblk\.\d+\.attn_[qkv]\.(bias|scale)$/);
  const isSliding = config.slidingLayers(1);
  const gain = config.numberOr("attention.value_scale", 0) || 1;
  const rope = model.rope({ pairs: "half" });
  const local = {
    rope: { ...rope, base: config.numberOr("rope.freq_base_swa", rope.base) },
    window: { kind: "sliding", size: config.count("attention.sliding_window") },
  } as const;
  return async (layer, x) => {
    const isHead = layer.index >= config.layers;
    const isLocal = isHead || isSliding[layer.index]!;
    // Lists of heads may end before the layers for multi-token prediction.
    const alike = isHead ? Math.max(0, isSliding.indexOf(true)) : layer.index;
    const attend = await layer.attention({
      ...config.heads(alike, isLocal ? "_swa" : ""),
      ...(isLocal ? local : { rope }),
      sinks: isHead || !isLocal ? layer.has("attn_sinks.weight", isHead ? "head" : "global") : true,
      gain,
    });
    const hasExperts = layer.hasAny(OF_EXPERTS);
    if (hasExperts) layer.ignore(/^ffn_(gate|up|down)\./);
    const feedForward = hasExperts
      ? await layer.experts({ gating: "sigmoid", normalize: true })
      : await layer.feedForward();
    attend.add(network.norm(x, layer.norm("attn_norm"), attend), x);
    feedForward.add(network.norm(x, layer.norm("ffn_norm"), feedForward), x);
  };
}
