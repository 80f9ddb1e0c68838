// Sampling, from logits to tokens: its options and its plain reference.

export type { FilterOption } from "../filters/filter.ts";
export { FILTER_OPTIONS, type FilterOptionInfos, FILTERS_OFF } from "../filters/list.ts";
export { Mirostat, type MirostatOptions } from "./mirostat.ts";
export {
  BIAS_WORDS,
  hasPenalties,
  MOST_BIASES,
  NO_TOKEN,
  packBiases,
  packSampling,
  type SamplerBuffers,
  type SamplerOptions,
  type SamplingNeeds,
  type SamplingOptions,
  type TokenBias,
} from "./options.ts";
export { type Choice, penalized, sampleReference, type SamplingInput } from "./reference.ts";
