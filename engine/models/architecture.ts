// The type of architectures: a function that loads a model's weights and appends its forward step.
// registry.ts lists the architectures.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads the weights of a model, appends its forward step to the network, and names its output. */
export type Architecture = (model: ModelBuilder) => Promise<void>;
