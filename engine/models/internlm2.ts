// InternLM 2 (Cai et al. 2024): Llama. The original's fused projections are separate tensors in
// GGUF files.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";
import { buildLlama } from "./llama.ts";

/** InternLM 2. */
export const internLm2: Architecture = {
  models: { "internlm2": "InternLM 2 and 2.5" },
  load: loadInternLm2,
};

function loadInternLm2(model: ModelBuilder): Promise<void> {
  return buildLlama(model, { head: "required" });
}
