// The memory of the GPU: what a model will take, how much there is, and how to load so that it fits.

export { createEstimate, estimateMemory, memoryUse, totalOf } from "./estimate.ts";
export type { Estimate, FileSource, MemoryEstimate } from "./estimate.ts";
export { gpuProfile } from "./gpu_profile.ts";
export { planLoad } from "./plan.ts";
export type { LoadPlan, PlanLimits } from "./plan.ts";
export type { BudgetOptions, MemoryBudget } from "./budget.ts";
export { readMemoryBudget } from "./read_budget.ts";
export { formatSize } from "./size.ts";
export { type DisposableEstimate, estimateInWorker } from "./worker_estimate.ts";
