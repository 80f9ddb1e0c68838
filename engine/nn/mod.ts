// The building blocks that architectures share.

export {
  loadAltUp,
  loadAltUpWeights,
  loadLaurel,
  perLayerInputs,
  perLayerUpdate,
} from "./altup.ts";
export type { NetworkAdapters } from "./adapt.ts";
export { attend, type AttentionConfig, rotate } from "./attention.ts";
export { ModelBuilder, type OutputConfig } from "./builder.ts";
export { checkLayers, Config, type Heads } from "./config.ts";
export { EncodedRows, loadCrossAttention } from "./cross_attention.ts";
export { gatingOf } from "./experts.ts";
export { Layer } from "./layer.ts";
export type { SizeSource } from "./layer_weights.ts";
export type { LayerState, StepMemory } from "./memory.ts";
export { type Input, Network } from "./network.ts";
export type { NetworkOptions, OutputKind } from "./operation_list.ts";
export { poolingOf, RowReadback } from "./row_readback.ts";
export type { Rope } from "./rope.ts";
export { type Classifier, readClassifier } from "./classifier.ts";
export { loadSparseFeedForward } from "./feed_forward.ts";
export {
  allocateStep,
  type AttentionInfo,
  type OpenKeys,
  type StepLimits,
  type StepOperation,
  stepOperation,
  type StepShape,
  type StepState,
} from "./step.ts";
export type { ChooseTokens, TokenRanges } from "./vocabulary.ts";
