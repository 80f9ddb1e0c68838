// Sampling, from logits to tokens: its options and its plain reference.

export type { FilterOption } from "../filters/filter.ts";
export { FILTER_OPTIONS, type FilterOptionInfos } from "../filters/list.ts";
export {
  hasPenalties,
  NO_TOKEN,
  packSampling,
  type SamplerBuffers,
  type SamplerOptions,
  type SamplingNeeds,
  type SamplingOptions,
} from "./options.ts";
export { type Choice, sampleReference, type SamplingInput } from "./reference.ts";
