// ERNIE 4.5 (Baidu ERNIE Team 2025), dense: Llama. Files may have biases, except of the attention's
// output.

import type { ModelBuilder } from "../nn/mod.ts";
import type { Architecture } from "./architecture.ts";
import { buildLlama } from "./llama.ts";

/** ERNIE 4.5. */
export const ernie: Architecture = {
  models: { "ernie4_5": "ERNIE 4.5 0.3B" },
  load: loadErnie,
};

function loadErnie(model: ModelBuilder): Promise<void> {
  model.ignore(/\battn_output\.bias$/);
  return buildLlama(model);
}
