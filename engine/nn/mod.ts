// The building blocks that architectures share.

export { attend, type AttentionConfig, rotate } from "./attention.ts";
export { FEED_FORWARD_SCALES, ModelBuilder } from "./builder.ts";
export { Config, type Heads } from "./config.ts";
export type { Layer } from "./layer.ts";
export {
  type Input,
  Network,
  type NetworkOptions,
  type Operation,
  type OutputKind,
  type Reader,
} from "./network.ts";
export { loadPerLayerBlock, perLayerInputs } from "./per_layer_inputs.ts";
export type { Rope, RopeChoice } from "./rope.ts";
export { allocateStep, type StepLimits, type StepShape, type StepState } from "./step.ts";
