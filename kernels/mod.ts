// What the engine may use of the kernels: the device, activations and matrices, and one class per
// operation. WGSL stays inside this folder.

export * from "./activation.ts";
export * from "./device.ts";
export * from "./errors.ts";
export * from "./kernel.ts";
export * from "./linear.ts";
export * from "./matrix.ts";
export { quantFormat, quantFormats } from "./quants/mod.ts";
export type { QuantFormat } from "./quants/mod.ts";
export * from "./attention.ts";
export * from "./embed.ts";
export * from "./quantize.ts";
export * from "./readback.ts";
export * from "./rms_norm.ts";
export * from "./rope_tables.ts";
export * from "./swiglu.ts";
export { hasPenalties, packSampling, Sampler, SAMPLING_BYTES } from "./sampling/mod.ts";
export type { SamplingNeeds, SamplingOptions as ResolvedSampling } from "./sampling/mod.ts";
