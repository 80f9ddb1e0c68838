// Checks the number of layers and the width of a model against the tensors of its file, before
// anything is computed from them. Other sizes are checked when a tensor is loaded, against its
// shape (weights/tensor_inventory.ts).

import type { GgufFile } from "../gguf/mod.ts";
import { layerOf } from "../weights/mod.ts";
import type { Config } from "./config.ts";

/**
 * Checks the number of layers and the width. Errors: GgufError naming the key that contradicts the
 * tensors.
 */
export function checkLayers({ tensors }: GgufFile, config: Config): void {
  let there = 0;
  for (const name of tensors.keys()) there = Math.max(there, layerOf(name) + 1);
  const declared = config.count("block_count");
  const later = config.countOr("nextn_predict_layers", 0);
  // A file may lack the layers for multi-token prediction.
  if (declared === 0 || declared < there || declared - later > there || later >= declared) {
    const layers = later > 0
      ? `${declared} layers, ${later} of them for later tokens`
      : `${declared}`;
    throw config.error("block_count", `${layers}, but the file has tensors of ${there} layers`);
  }
  const table = "token_embd.weight";
  const width = tensors.get(table)?.shape[0];
  if (config.width === 0 || (width !== undefined && width !== config.width)) {
    const state = `${config.width}, but the rows of "${table}" have ${width ?? "no"} values`;
    throw config.error("embedding_length", state);
  }
}
