// Operations of layers that keep a state from token to token: convolution, selective scan, delta
// rule, and gated norm. segments.ts describes their steps.

export * from "./convolution.ts";
export * from "./delta.ts";
export * from "./gated_norm.ts";
export * from "./scan.ts";
export type { ColumnRange } from "./segments.ts";
export type { StepSegments } from "./segments.ts";
