// The memory of devices: how much a model will take, how much there is, and options with which a
// load fits.

export {
  createEstimate,
  type Estimate,
  estimateMemory,
  type FileSource,
  formatSize,
  type MemoryEstimate,
  memoryUse,
  totalOf,
} from "./estimate.ts";
export { type DeviceProfiles, gpuProfile, isGpuFaster } from "./devices.ts";
export { type FitLimits, fitLoad, type FittedLoad } from "./fit_load.ts";
export {
  type BudgetOptions,
  defaultCacheMemory,
  type MemoryBudget,
  readMemoryBudget,
} from "./budget.ts";
export { type DisposableEstimate, estimateInWorker, type LentThread } from "./worker_estimate.ts";
