// Running all sequences of a model together, as vLLM does (Kwon et al. 2023): who is admitted, preempted
// and fed in which step, the blocks of the KV cache, the prefix cache, and the step on the device.

export { chooseCacheSize, chooseStateCopies, tokenBytes } from "./cache_size.ts";
export { type Drafter, ModelDrafter } from "./model_drafter.ts";
export type { Branch } from "./evaluation.ts";
export type { BlockTiers } from "./offload.ts";
export { concat } from "./evaluation.ts";
export { type Chunk, layOut, type WantedRows } from "./planner.ts";
export { Scheduler } from "./scheduler.ts";
export {
  type Biases,
  type ConstraintFork,
  NO_MEMORY,
  type RestoredTokens,
  Sequence,
  type SequenceEnd,
  type SequenceRequest,
  type SequenceStep,
  type Steering,
  type TokenConstraint,
  withAdapters,
} from "./sequence.ts";
export type {
  OperationInfo,
  OperationTrace,
  StepRow,
  StepTrace,
  TapOutput,
  TapSelection,
  TapVisit,
  VisitTools,
} from "./observation.ts";
export type { StepObserver } from "./step_observer.ts";
export { DeviceStates, StateFeed } from "./state_feed.ts";
export type { StepPlan } from "./step_plan.ts";
export { StepRunner } from "./step_runner.ts";
