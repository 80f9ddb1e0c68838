// InternLM 2 (Cai et al. 2024): Llama. The fused projections of the original are apart in GGUF files.

import { FEED_FORWARD_SCALES, type ModelBuilder } from "../nn/mod.ts";
import { loadLlama } from "./llama.ts";

/** Loads an InternLM 2. */
export function loadInternLm2(model: ModelBuilder): Promise<void> {
  model.weights.ignore(FEED_FORWARD_SCALES);
  return loadLlama(model);
}
