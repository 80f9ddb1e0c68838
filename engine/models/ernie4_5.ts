// ERNIE 4.5 (Baidu ERNIE Team 2025), dense: Llama. Files may have biases, except of the attention's
// output.

import type { ModelBuilder } from "../nn/mod.ts";
import { buildLlama } from "./llama.ts";

/** Loads an ERNIE 4.5. */
export function loadErnie(model: ModelBuilder): Promise<void> {
  model.ignore(/\battn_output\.bias$/);
  return buildLlama(model);
}
