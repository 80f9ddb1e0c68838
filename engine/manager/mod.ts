// The manager of the models in memory.

export { ModelManager } from "./manager.ts";
export type { Clock } from "./clock.ts";
export type { BusyWorker } from "./busy_workers.ts";
export type {
  AcquireOptions,
  AskedLoad,
  Isolation,
  Lease,
  LoadEstimate,
  ManagerOptions,
  OpenOptions,
  RunningModel,
} from "./types.ts";
