// What an architecture is to the rest of the engine: a function that loads a model's weights and
// writes down its forward step. The architectures themselves are listed in registry.ts.

import type { FloatRows } from "../../kernels/mod.ts";
import type { MetadataReader } from "../gguf/mod.ts";
import type { Network } from "../nn/mod.ts";
import type { WeightLoader } from "../weights.ts";

/** What every architecture tells of itself before its weights are loaded. */
export interface Hyperparameters {
  readonly metadata: MetadataReader;
  /** File, for errors. */
  readonly path: string;
}

/** Loads the weights and appends the forward step to `network`; gives the logits [outputs, vocabulary]. */
export type Architecture = (
  network: Network,
  weights: WeightLoader,
  hyperparameters: Hyperparameters,
) => Promise<FloatRows>;
