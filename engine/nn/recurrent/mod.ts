// Layers that keep a state instead of a KV cache.

export * from "./delta.ts";
export * from "./mamba.ts";
export * from "./mamba.ts";
export * from "./operations.ts";
