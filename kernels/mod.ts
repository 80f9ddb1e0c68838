// What the engine may use of the kernels: the device, activations and matrices, and one class per
// operation. WGSL stays inside this folder.

export * from "./activate.ts";
export * from "./activation.ts";
export * from "./activation_function.ts";
export * from "./device.ts";
export * from "./errors.ts";
export * from "./kernel.ts";
export {
  Linear,
  type LinearOptions,
  linearReference,
  weightConstants,
  weightSnippets,
} from "./linear.ts";
export * from "./matrix.ts";
export { quantFormat, quantFormats } from "./quants/mod.ts";
export type { QuantFormat } from "./quants/mod.ts";
export * from "./attention.ts";
export * from "./attention_options.ts";
export * from "./combine.ts";
export * from "./elementwise.ts";
export * from "./embed.ts";
export * from "./expert_plan.ts";
export * from "./experts.ts";
export * from "./kv_cache.ts";
export * from "./match_magnitude.ts";
export * from "./mix.ts";
export * from "./norm.ts";
export * from "./product_check.ts";
export * from "./quantize.ts";
export * from "./read_bandwidth.ts";
export * from "./readback.ts";
export * from "./recurrent/mod.ts";
export * from "./rope_tables.ts";
export * from "./rotate.ts";
export * from "./rotate_rows.ts";
export * from "./route.ts";
export { hasPenalties, NO_TOKEN, packSampling, Sampler, SAMPLING_BYTES } from "./sampling/mod.ts";
export type { SamplingNeeds, SamplingOptions as ResolvedSampling } from "./sampling/mod.ts";
export * from "./sparsify.ts";
export { chooseTile, type LinearTile, STAGED, type Tile } from "./tile.ts";
