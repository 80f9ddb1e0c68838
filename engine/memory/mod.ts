// The memory of the GPU: what a model will take, how much there is, and how to load so that it fits.

export {
  createEstimate,
  type Estimate,
  estimateMemory,
  type FileSource,
  type MemoryEstimate,
  memoryUse,
  totalOf,
} from "./estimate.ts";
export { type DeviceProfiles, deviceProfiles, gpuProfile } from "./gpu_profile.ts";
export { type LoadPlan, type PlanLimits, planLoad } from "./plan.ts";
export type { BudgetOptions, MemoryBudget } from "./budget.ts";
export { readMemoryBudget } from "./read_budget.ts";
export { formatSize } from "./size.ts";
export { type DisposableEstimate, estimateInWorker } from "./worker_estimate.ts";
