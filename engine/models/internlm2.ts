// InternLM 2 (Cai et al. 2024): Llama. The original's fused projections are separate tensors in
// GGUF files.

import type { ModelBuilder } from "../nn/mod.ts";
import { buildLlama } from "./llama.ts";

/** Loads an InternLM 2. */
export function loadInternLm2(model: ModelBuilder): Promise<void> {
  return buildLlama(model, { head: "required" });
}
