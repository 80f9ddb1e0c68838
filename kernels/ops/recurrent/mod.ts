// Layers that carry a state from token to token: convolution, selective scan, delta rule, and the
// norm behind them. See segments.ts for what their steps are.

export * from "./convolution.ts";
export * from "./delta.ts";
export * from "./gated_norm.ts";
export * from "./scan.ts";
export type { ColumnRange } from "./segments.ts";
export type { StepSegments } from "./segments.ts";
