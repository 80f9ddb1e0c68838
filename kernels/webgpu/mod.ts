// The device on WebGPU, and its parts for tests and benchmarks.

export * from "./adapter_facts.ts";
export * from "./adapters.ts";
export * from "./attention.ts";
export { mostTileRows } from "./attention_shares.ts";
export * from "./device.ts";
export * from "./expert_pairs.ts";
export * from "./experts.ts";
export * from "./gpu.ts";
export * from "./kernel.ts";
export * from "./linear.ts";
export * from "./matrix.ts";
export * from "./platform.ts";
export * from "./readback.ts";
export { rowBinders } from "./rows.ts";
export * from "./sampling/sampler.ts";
export * from "./stacked_linear.ts";
export * from "./subgroup_matrices.ts";
export * from "./template.ts";
export * from "./tile.ts";
