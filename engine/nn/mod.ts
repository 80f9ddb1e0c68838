// The building blocks that architectures share.

export { Network, type NetworkOptions } from "./network.ts";
export { allocateStep, type StepLimits, type StepShape, type StepState } from "./step.ts";
