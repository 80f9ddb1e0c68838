// Sampling, from logits to tokens: its options and its plain reference.

export {
  hasPenalties,
  NO_TOKEN,
  packSampling,
  type SamplerBuffers,
  type SamplerOptions,
  SAMPLING_BYTES,
  type SamplingNeeds,
  type SamplingOptions,
  unpackSampling,
} from "./options.ts";
export { type Choice, sampleReference, type SamplingInput } from "./reference.ts";
