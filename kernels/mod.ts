// The part of the kernels layer that the engine uses: the interface of devices, what their
// operations take and mean, and how a device is opened.

export * from "./deferred.ts";
export * from "./device.ts";
export * from "./errors.ts";
export { refuseCpuThread, startCpuThread, startCpuThreadsBy } from "./cpu/threads.ts";
export {
  makeOn,
  type MakersOf,
  type OperandsOf,
  type OperationCall,
  type OperationMakers,
  type OperationName,
  withParts,
} from "./makers.ts";
export * from "./choice.ts";
export type {
  Allocator,
  Buffer,
  BufferRange,
  Operation,
  Pass,
  Work,
  WorkCounts,
} from "./operation.ts";
export * from "./ops/activation.ts";
export * from "./ops/attention.ts";
export * from "./ops/elementwise.ts";
export * from "./ops/embed.ts";
export * from "./ops/experts.ts";
export * from "./ops/exponential.ts";
export * from "./ops/cache_codes.ts";
export * from "./ops/kv_cache.ts";
export * from "./ops/matrix.ts";
export * from "./ops/norm.ts";
export * from "./ops/recurrent.ts";
export * from "./ops/rope_tables.ts";
export * from "./ops/rotate.ts";
export * from "./ops/spans.ts";
export {
  BIAS_WORDS,
  FILTER_OPTIONS,
  type FilterOption,
  type FilterOptionInfos,
  FILTERS_OFF,
  hasPenalties,
  Mirostat,
  MOST_BIASES,
  NO_TOKEN,
  packBiases,
  packSampling,
  penalized,
  sampleReference,
  type SamplerOptions,
  type SamplingInput,
  type SamplingNeeds,
  type SamplingOptions as ResolvedSampling,
  type TokenBias,
} from "./ops/sampling/mod.ts";
export * from "./ops/step_records.ts";
export * from "./product_check.ts";
export type { RecordOf } from "./record.ts";
export { SplitDevice } from "./split/split_device.ts";
export { type QuantFormat, quantFormat, quantFormats } from "./quants/mod.ts";
export * from "./tuning.ts";
export {
  FILES_OF_WORKER,
  hasRoomForWorkers,
  startWorker,
  untilRoomForWorker,
  withWorkerFiles,
} from "./workers/start_worker.ts";
export { countFreeThreads } from "./workers/system_limits.ts";
export { attentionWork, NO_WORK, sumWork } from "./ops/work.ts";
