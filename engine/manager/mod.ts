// The manager of the models in memory.

export { ModelManager } from "./manager.ts";
export type { Clock } from "./clock.ts";
export type { AcquireOptions, Lease, ManagerOptions, RunningModel } from "./types.ts";
