// What an architecture is to the rest of the engine: a function that loads a model's weights and
// writes down its forward step. The architectures themselves are listed in registry.ts.

import type { ModelBuilder } from "../nn/mod.ts";

/** Loads the weights of a model, appends its forward step to the network, and names its output. */
export type Architecture = (model: ModelBuilder) => Promise<void>;
