// Sampling: from logits to tokens, on the GPU and as a reference on the CPU.

export { hasPenalties, packSampling, SAMPLING_BYTES, type SamplingOptions } from "./options.ts";
export { type Choice, sampleReference, type SamplingInput } from "./reference.ts";
export {
  NO_TOKEN,
  Sampler,
  type SamplerBuffers,
  type SamplerOptions,
  type SamplingNeeds,
} from "./sampler.ts";
